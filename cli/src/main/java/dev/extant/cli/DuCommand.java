package dev.extant.cli;

import dev.extant.vfs.Attributes;
import dev.extant.vfs.FileType;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant du`.
@Command(
    name = "du",
    description = {
      "Shows how much space directories and all below them take, in units of 1 KiB.",
      "A file with several names counts once."
    },
    footer = {"", "Examples:", "  extant du -sh disk.img:/usr", "  extant du -d 1 disk.img:/"})
final class DuCommand extends SubCommand implements TreeWalk.Visitor {
  @Option(names = "-a", description = "Shows files too, not only directories.")
  private boolean all;

  @Option(names = "-s", description = "Shows only the sum of each path given; as -d 0.")
  private boolean summarize;

  @Option(
      names = {"-d", "--max-depth"},
      paramLabel = "N",
      description = "Shows what is at most so far below the paths given.")
  private Integer maxDepth;

  @Option(names = "-c", description = "Adds the sum of all.")
  private boolean total;

  @Option(names = "-h", description = "Shows sizes like 1.5K or 23M.")
  private boolean human;

  @Option(names = "-k", description = "In units of 1 KiB, as always.")
  private boolean kibibytes;

  @Option(names = "-b", description = "In bytes, and as long as the files are: --apparent-size.")
  private boolean bytes;

  @Option(
      names = "--apparent-size",
      description = "Adds how long files and symbolic links are, not what they take.")
  private boolean apparent;

  @Option(names = "--inodes", description = "Counts inodes.")
  private boolean inodes;

  @Option(names = "-l", description = "Counts a file as often as it has names.")
  private boolean everyName;

  @Option(names = "-0", description = "Ends lines with a zero byte.")
  private boolean zero;

  @Option(names = "--json", description = "Writes JSON, with all figures in bytes.")
  private boolean json;

  @Parameters(paramLabel = "IMAGE:/PATH", arity = "1..*", description = "What to add up.")
  private List<String> paths;

  /// What a file, or a directory with all below it, takes.
  private static final class Sum {
    private long allocatedBytes;
    private long apparentBytes;
    private long inodes;

    void add(Sum other) {
      allocatedBytes += other.allocatedBytes;
      apparentBytes += other.apparentBytes;
      inodes += other.inodes;
    }

    static Sum of(Attributes attributes) {
      Sum sum = new Sum();
      sum.allocatedBytes = attributes.allocatedBytes();
      boolean hasLength =
          attributes.type() == FileType.REGULAR || attributes.type() == FileType.SYMLINK;
      sum.apparentBytes = hasLength ? attributes.sizeBytes() : 0;
      sum.inodes = 1;
      return sum;
    }
  }

  private record Identity(Volume volume, long ino) {}

  private final List<Map<String, Object>> collected = new ArrayList<>();
  private final Set<Identity> seen = new HashSet<>();
  private final Deque<Sum> open = new ArrayDeque<>();
  private final Sum grand = new Sum();
  private Volume volume;
  private int shownDepth = Integer.MAX_VALUE;

  @Override
  void run() throws IOException {
    if (summarize && (all || maxDepth != null)) {
      throw usage("-s shows sums only; it goes with neither -a nor -d");
    }
    if (maxDepth != null && maxDepth < 0) {
      throw usage("-d " + maxDepth + ": not a depth");
    }
    if (maxDepth != null || summarize) {
      shownDepth = summarize ? 0 : maxDepth;
    }
    try (Session session = reading()) {
      each(session, paths, this::add);
    }
    if (total) {
      show(ShownPath.of("total"), grand);
    }
    if (json) {
      console().printLine(Json.of(collected));
    }
  }

  private void add(Operand operand) throws IOException {
    volume = operand.volume();
    open.clear();
    TreeWalk.of(operand, this);
  }

  @Override
  public boolean enter(TreeWalk.Entry entry) throws IOException {
    Attributes attributes = entry.attributes();
    boolean mayComeAgain = attributes.nlink() > 1 && !entry.isDirectory() || paths.size() > 1;
    if (mayComeAgain && !everyName && !seen.add(new Identity(volume, attributes.ino()))) {
      return false;
    }
    open.push(Sum.of(attributes));
    if (!entry.isDirectory()) {
      finish(entry, all || entry.depth() == 0);
    }
    return true;
  }

  @Override
  public void leave(TreeWalk.Entry directory) throws IOException {
    finish(directory, true);
  }

  private void finish(TreeWalk.Entry entry, boolean shown) throws IOException {
    Sum sum = open.pop();
    (open.isEmpty() ? grand : open.element()).add(sum);
    if (shown && entry.depth() <= shownDepth) {
      show(entry.path(), sum);
    }
  }

  @Override
  public void failed(CommandFailure failure) throws IOException {
    complainAndGoOn(failure);
  }

  private void show(ShownPath path, Sum sum) throws IOException {
    if (json) {
      Map<String, Object> map = new LinkedHashMap<>();
      path.putInto(map);
      map.put("allocatedBytes", sum.allocatedBytes);
      map.put("apparentBytes", sum.apparentBytes);
      map.put("inodes", sum.inodes);
      collected.add(map);
      return;
    }
    console().print(figure(sum) + "\t");
    if (zero) {
      console().write(path.bytes());
    } else {
      path.print(console());
    }
    console().print(zero ? "\0" : "\n");
  }

  private String figure(Sum sum) {
    if (inodes) {
      return Long.toString(sum.inodes);
    }
    long size = apparent || bytes ? sum.apparentBytes : sum.allocatedBytes;
    if (human) {
      return Sizes.human(size);
    }
    return Long.toString(bytes ? size : Math.ceilDiv(size, 1024));
  }
}
