package dev.extant.cli;

import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant find`. Its expressions look like options but are no such thing: the command line gives
/// them to this command as they stand.
@Command(
    name = "find",
    customSynopsis = "extant find [--json] IMAGE:/PATH... [TEST|ACTION]...",
    description = {
      "Finds files in an image by name, type, size, age and more, as find(1) does.",
      "Without an action, -print is done to every file that passes all tests."
    },
    footer = {
      "",
      "Tests (N is a number; +N means more, -N less):",
      "  -name GLOB -iname GLOB         the name",
      "  -path GLOB -ipath GLOB         the path from the root of the image; * matches / too",
      "  -type f,d,l,b,c,p,s            the type, or one of several",
      "  -size N[cwbkMG]                the size, in units begun; of 512 bytes without a letter",
      "  -empty                         a file of 0 bytes, or a directory without names",
      "  -perm MODE, -perm -MODE, -perm /MODE",
      "                                 the permissions: exactly these, all of them, any of them",
      "  -uid N -gid N -links N -inum N what the inode says",
      "  -mtime N -atime N -ctime N     whole days since a change, an access, a change of the"
          + " inode",
      "  -mmin N -amin N -cmin N        the same in minutes",
      "  -newer IMAGE:/FILE, -newermt TIME",
      "                                 changed later than that",
      "  -maxdepth N -mindepth N        how far below the start",
      "  -depth                         what is in a directory comes before it",
      "Between tests: -a (as if nothing stood there), -o, ! and ( ).",
      "Actions: -print, -print0 (ends with a zero byte), -ls, -prune (does not go down).",
      "Examples:",
      "  extant find disk.img:/etc -name '*.conf' -type f",
      "  extant find disk.img:/ -size +10M -mtime -7 -ls",
      "  extant find disk.img:/ -path /proc -prune -o -perm -u+s -print"
    })
final class FindCommand extends SubCommand implements FindParser.Actions, TreeWalk.Visitor {
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm");

  @Option(names = "--json", description = "Writes JSON.")
  private boolean json;

  @Parameters(
      paramLabel = "IMAGE:/PATH",
      arity = "1..*",
      description = "Where to start, then tests and actions.")
  private List<String> words;

  private final List<Map<String, Object>> collected = new ArrayList<>();
  private Session session;
  private FindParser.Query query;
  private Operand start;
  private int prefixBytes;
  private boolean pruned;

  @Override
  void run() throws IOException {
    try (Session opened = reading()) {
      session = opened;
      query = parse();
      each(opened, query.paths(), this::find);
    }
    if (json) {
      console().printLine(Json.of(collected));
    }
  }

  private FindParser.Query parse() throws IOException {
    try {
      FindParser.Query parsed = new FindParser(words, this, Instant.now()).parse();
      if (json && parsed.acts()) {
        throw usage("--json takes the place of -print, -print0 and -ls");
      }
      return parsed;
    } catch (FindParser.Misuse e) {
      throw usage(e.getMessage());
    }
  }

  private void find(Operand operand) throws IOException {
    start = operand;
    prefixBytes = ShownPath.of(operand.text()).length() - ShownPath.of(operand.path()).length();
    TreeWalk.of(operand, this);
  }

  @Override
  public boolean enter(TreeWalk.Entry entry) throws IOException {
    boolean deeper = entry.isDirectory() && entry.depth() < query.maxDepth();
    pruned = false;
    if (!query.contentsFirst() || !deeper) {
      look(entry);
    }
    return deeper && !pruned;
  }

  @Override
  public void leave(TreeWalk.Entry directory) throws IOException {
    if (query.contentsFirst()) {
      look(directory);
    }
  }

  @Override
  public void failed(CommandFailure failure) throws IOException {
    complainAndGoOn(failure);
  }

  private void look(TreeWalk.Entry entry) throws IOException {
    if (entry.depth() < query.minDepth()) {
      return;
    }
    FindTest.Candidate file =
        new FindTest.Candidate(entry, start.volume(), entry.path().bytesFrom(prefixBytes));
    if (query.test().passes(file) && !query.acts()) {
      if (json) {
        collected.add(Listing.of(entry.name(), start.volume(), entry.node()).json(entry.path()));
      } else {
        print(file, '\n');
      }
    }
  }

  @Override
  public boolean print(FindTest.Candidate file, char end) throws IOException {
    if (end == '\0') {
      console().write(file.entry().path().bytes());
    } else {
      file.entry().path().print(console());
    }
    console().print(String.valueOf(end));
    return true;
  }

  @Override
  public boolean list(FindTest.Candidate file) throws IOException {
    TreeWalk.Entry entry = file.entry();
    Listing listing = Listing.of(entry.name(), file.volume(), entry.node());
    console()
        .print(
            String.format(
                "%9d %8d %s %3d %-8d %-8d %12s %s ",
                listing.attributes().ino(),
                Math.ceilDiv(listing.attributes().allocatedBytes(), 1024),
                listing.modeString(),
                listing.attributes().nlink(),
                listing.attributes().uid(),
                listing.attributes().gid(),
                listing.isDevice()
                    ? listing.deviceMajor() + ", " + listing.deviceMinor()
                    : Long.toString(listing.attributes().sizeBytes()),
                TIME.format(
                    listing.attributes().times().modified().atZone(ZoneId.systemDefault()))));
    entry.path().print(console());
    if (listing.target() != null) {
      console().print(" -> ");
      console().printName(listing.target());
    }
    console().print("\n");
    return true;
  }

  @Override
  public boolean prune() {
    pruned = true;
    return true;
  }

  @Override
  public boolean isEmptyDirectory(FindTest.Candidate file) throws IOException {
    boolean[] empty = {true};
    file.volume()
        .readDirectory(
            file.entry().node(), 0, (name, _, _, _) -> empty[0] = name.isDot() || name.isDotDot());
    return empty[0];
  }

  @Override
  public Instant modified(String text) throws IOException {
    Operand operand = operand(session, text);
    Volume volume = operand.volume();
    try (Node node = operand.find(false)) {
      return volume.attributes(node).times().modified();
    }
  }
}
