package dev.extant.cli;

import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant tree`.
@Command(
    name = "tree",
    description = "Draws what is below directories as a tree.",
    footer = {"", "Examples:", "  extant tree disk.img:/etc", "  extant tree -d -L 2 disk.img:/"})
final class TreeCommand extends SubCommand {
  @Option(names = "-a", description = "Shows names that start with a dot too.")
  private boolean all;

  @Option(names = "-d", description = "Shows directories only.")
  private boolean directoriesOnly;

  @Option(names = "-L", paramLabel = "N", description = "Goes down at most so far.")
  private Integer maxDepth;

  @Option(names = "-p", description = "Shows types and permissions.")
  private boolean permissions;

  @Option(names = "-s", description = "Shows sizes in bytes.")
  private boolean sizes;

  @Option(names = "-h", description = "Shows sizes like 1.5K or 23M.")
  private boolean human;

  @Option(names = "-f", description = "Shows whole paths.")
  private boolean wholePaths;

  @Option(names = "--json", description = "Writes JSON: each directory has a list \"contents\".")
  private boolean json;

  @Parameters(paramLabel = "IMAGE:/PATH", arity = "1..*", description = "What to draw.")
  private List<String> paths;

  private final List<Map<String, Object>> collected = new ArrayList<>();
  private long directories;
  private long files;

  @Override
  void run() throws IOException {
    if (maxDepth != null && maxDepth < 1) {
      throw usage("-L " + maxDepth + ": wants a depth of 1 or more");
    }
    try (Session session = reading()) {
      each(session, paths, this::draw);
    }
    if (json) {
      console().printLine(Json.of(collected));
      return;
    }
    String count = directories + (directories == 1 ? " directory" : " directories");
    String rest = ", " + files + (files == 1 ? " file" : " files");
    console().printLine("\n" + count + (directoriesOnly ? "" : rest));
  }

  private void draw(Operand operand) throws IOException {
    TreeWalk.of(operand, new Drawing(operand.volume()));
  }

  /// The tree below one operand.
  private final class Drawing implements TreeWalk.Visitor {
    private final Volume volume;

    /// The depths at which a name follows on those before.
    private final BitSet open = new BitSet();

    /// The lists that directories on the way collect, the innermost first.
    private final Deque<List<Map<String, Object>>> contents = new ArrayDeque<>();

    Drawing(Volume volume) {
      this.volume = volume;
      contents.push(collected);
    }

    @Override
    public boolean enter(TreeWalk.Entry entry) throws IOException {
      Listing listing = Listing.of(entry.name(), volume, entry.node());
      boolean deeper = entry.isDirectory() && (maxDepth == null || entry.depth() < maxDepth);
      if (entry.isDirectory()) {
        directories++;
      } else {
        files++;
      }
      if (json) {
        Map<String, Object> map = listing.json(entry.path());
        contents.element().add(map);
        if (deeper) {
          List<Map<String, Object>> inside = new ArrayList<>();
          map.put("contents", inside);
          contents.push(inside);
        }
      } else {
        show(entry, listing);
      }
      return deeper;
    }

    @Override
    public void leave(TreeWalk.Entry directory) {
      if (json) {
        contents.pop();
      }
    }

    @Override
    public List<FileName> choose(TreeWalk.Entry directory, List<FileName> names)
        throws IOException {
      List<FileName> chosen = new ArrayList<>();
      for (FileName name : names) {
        if ((all || name.byteAt(0) != '.') && (!directoriesOnly || isDirectory(directory, name))) {
          chosen.add(name);
        }
      }
      return chosen;
    }

    /// True also for what cannot be looked up, so that the walk tells why.
    private boolean isDirectory(TreeWalk.Entry directory, FileName name) {
      try (Node node = volume.lookup(directory.node(), name)) {
        return node.type() == FileType.DIRECTORY;
      } catch (FsException e) {
        return true;
      }
    }

    @Override
    public void failed(CommandFailure failure) throws IOException {
      complainAndGoOn(failure);
    }

    private void show(TreeWalk.Entry entry, Listing listing) throws IOException {
      open.set(entry.depth(), !entry.last());
      StringBuilder branches = new StringBuilder();
      for (int depth = 1; depth < entry.depth(); depth++) {
        branches.append(open.get(depth) ? "│   " : "    ");
      }
      if (entry.depth() > 0) {
        branches.append(entry.last() ? "└── " : "├── ");
      }
      console().print(branches + figures(listing));
      if (wholePaths || entry.depth() == 0) {
        entry.path().print(console());
      } else {
        console().print(entry.name());
      }
      if (listing.target() != null) {
        console().print(" -> ");
        console().printName(listing.target());
      }
      console().print("\n");
    }
  }

  private String figures(Listing listing) {
    List<String> figures = new ArrayList<>();
    if (permissions) {
      figures.add(listing.modeString());
    }
    if (human) {
      figures.add(String.format("%4s", Sizes.human(listing.attributes().sizeBytes())));
    } else if (sizes) {
      figures.add(String.format("%11d", listing.attributes().sizeBytes()));
    }
    return figures.isEmpty() ? "" : "[" + String.join(" ", figures) + "]  ";
  }
}
