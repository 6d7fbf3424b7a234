package dev.extant.cli;

import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant ls`.
@Command(name = "ls", description = "Lists directories, one name a line.")
final class LsCommand extends SubCommand {
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm");

  @Option(
      names = "-l",
      description = "Shows mode (+: and an ACL), links, owner, group, size and time too.")
  private boolean detailed;

  @Option(names = "-a", description = "Shows names that start with a dot, and . and ..")
  private boolean all;

  @Option(names = "-A", description = "Shows names that start with a dot, but not . and ..")
  private boolean almostAll;

  @Option(names = "-R", description = "Goes down into directories.")
  private boolean recursive;

  @Option(names = "-1", description = "One name a line, as always.")
  private boolean onePerLine;

  @Option(names = "-i", description = "Shows inode numbers.")
  private boolean inodes;

  @Option(names = "-n", description = "Shows owners as numbers, as always.")
  private boolean numeric;

  @Option(names = "-d", description = "Shows a directory itself, not what is in it.")
  private boolean directoryItself;

  @Option(names = "-h", description = "Shows sizes like 1.5K or 23M.")
  private boolean human;

  @Option(names = "--json", description = "Writes JSON.")
  private boolean json;

  @Parameters(paramLabel = "IMAGE:/PATH", arity = "1..*")
  private List<String> paths;

  private final List<Map<String, Object>> collected = new ArrayList<>();
  private final Set<String> told = new HashSet<>();
  private boolean first = true;

  @Override
  void run() throws IOException {
    try (Session session = reading()) {
      each(session, paths, this::list);
    }
    if (json) {
      console().printLine(Json.of(collected));
    }
  }

  private void list(Operand operand) throws IOException {
    ShownPath path = ShownPath.of(operand.text());
    try (Node node = operand.find(!detailed && !directoryItself)) {
      Volume volume = operand.volume();
      if (node.type() != FileType.DIRECTORY || directoryItself) {
        FileName whole = FileName.of(path.bytes());
        show(path, List.of(Listing.of(whole, volume, node, detailed)), true);
        first = false;
      } else if (recursive) {
        TreeWalk.of(volume, path, FileName.of(path.bytes()), node.retain(), new Recursion(volume));
      } else {
        directory(path, volume, node, paths.size() > 1);
      }
    }
  }

  /// Shows each directory before those in it.
  private final class Recursion implements TreeWalk.Visitor {
    private final Volume volume;

    Recursion(Volume volume) {
      this.volume = volume;
    }

    @Override
    public boolean enter(TreeWalk.Entry entry) throws IOException {
      if (!entry.isDirectory() || entry.depth() > 0 && !isShown(entry.name())) {
        return false;
      }
      directory(entry.path(), volume, entry.node(), true);
      return true;
    }

    @Override
    public void failed(CommandFailure failure) throws IOException {
      tell(failure);
    }
  }

  /// Once, since a recursive listing comes twice to a name that cannot be looked up: when it shows
  /// the directory and when it goes down.
  private void tell(CommandFailure failure) throws IOException {
    if (told.add(failure.getMessage())) {
      complainAndGoOn(failure);
    }
  }

  private boolean isShown(FileName name) {
    return all || almostAll || name.byteAt(0) != '.';
  }

  private void directory(ShownPath path, Volume volume, Node directory, boolean titled)
      throws IOException {
    List<Listing> listings = new ArrayList<>();
    List<FileName> names = VolumeSource.names(volume, directory);
    if (all) {
      names.addAll(0, List.of(FileName.of("."), FileName.of("..")));
    }
    for (FileName name : names) {
      if (isShown(name)) {
        try (Node child = volume.lookup(directory, name)) {
          listings.add(Listing.of(name, volume, child, detailed));
        } catch (IOException e) {
          tell(CommandFailure.at(path.child(name).toString(), e));
        }
      }
    }
    if (titled && !json) {
      console().print(first ? "" : "\n");
      path.print(console());
      console().print(":\n");
    }
    first = false;
    show(path, listings, false);
  }

  private void show(ShownPath parent, List<Listing> listings, boolean named) throws IOException {
    if (json) {
      for (Listing listing : listings) {
        collected.add(listing.json(named ? parent : parent.child(listing.name())));
      }
      return;
    }
    int inoWidth = width(listings, listing -> Long.toString(listing.attributes().ino()).length());
    int linkWidth =
        width(listings, listing -> Integer.toString(listing.attributes().nlink()).length());
    int uidWidth = width(listings, listing -> Long.toString(listing.attributes().uid()).length());
    int gidWidth = width(listings, listing -> Long.toString(listing.attributes().gid()).length());
    int sizeWidth = width(listings, listing -> size(listing).length());
    boolean marked = listings.stream().anyMatch(listing -> listing.aclMark() != ' ');
    for (Listing listing : listings) {
      if (inodes) {
        console().print(right(Long.toString(listing.attributes().ino()), inoWidth) + " ");
      }
      if (detailed) {
        console()
            .print(
                String.join(
                    " ",
                    listing.modeString() + (marked ? listing.aclMark() : ""),
                    right(Integer.toString(listing.attributes().nlink()), linkWidth),
                    right(Long.toString(listing.attributes().uid()), uidWidth),
                    right(Long.toString(listing.attributes().gid()), gidWidth),
                    right(size(listing), sizeWidth),
                    TIME.format(
                        listing.attributes().times().modified().atZone(ZoneId.systemDefault())),
                    ""));
      }
      console().print(listing.name());
      if (detailed && listing.target() != null) {
        console().print(" -> ");
        console().printName(listing.target());
      }
      console().print("\n");
    }
  }

  private String size(Listing listing) {
    if (listing.isDevice()) {
      return listing.deviceMajor() + ", " + listing.deviceMinor();
    }
    long size = listing.attributes().sizeBytes();
    return human ? Sizes.human(size) : Long.toString(size);
  }

  private static int width(List<Listing> listings, ToIntFunction<Listing> length) {
    return listings.stream().mapToInt(length).max().orElse(0);
  }

  private static String right(String text, int width) {
    return " ".repeat(Math.max(0, width - text.length())) + text;
  }
}
