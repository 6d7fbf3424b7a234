package dev.extant.testkit;

import dev.extant.testkit.TwinVolumes.Both;
import dev.extant.testkit.TwinVolumes.Outcome;
import dev.extant.vfs.AllocateMode;
import dev.extant.vfs.AttributeChange;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.RenameMode;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;

/// Random operations on [TwinVolumes], compared one by one.
///
/// It knows no paths: it holds some nodes, takes names from a small stock, and so meets names that
/// exist, names that do not, directories that were removed, and files without names. The directory
/// `big` gets many more names than the others.
final class RandomOperations {
  private static final int MAX_DIRECTORIES = 12;
  private static final int MAX_OTHERS = 24;
  private static final int MAX_WRITE_BYTES = 12_000;
  static final int TYPICAL_WRITE_BYTES = 2_000;
  private static final int MAX_RANGE_BYTES = 60_000;
  private static final long MANY_INODES = 1_500;

  /// Volumes may have a coarse clock for times of modification.
  private static final long CLOCK_TICK_MILLIS = 4;

  /// No setuid and setgid: volumes may drop the bits at a write, and hand a directory's group on.
  private static final int PERMISSIONS = 02000;

  private interface Step {
    void run() throws IOException;
  }

  private final TwinVolumes twins;
  private final SplittableRandom random;
  private final int typicalBytes;
  private final List<TwinNode> directories = new ArrayList<>();
  private final List<TwinNode> others = new ArrayList<>();
  private final TreeMap<Integer, Step> steps = new TreeMap<>();
  private final byte[] bytes = new byte[4 * MAX_WRITE_BYTES];
  private int totalWeight;
  private long inodes = 1;
  private long fullBefore;

  /// Most writes are of fewer than `typicalBytes`.
  RandomOperations(TwinVolumes twins, SplittableRandom random, int typicalBytes)
      throws FsException {
    this.twins = twins;
    this.random = random;
    this.typicalBytes = typicalBytes;
    random.nextBytes(bytes);
    step(10, this::create);
    step(5, this::mkdir);
    step(4, this::symlink);
    step(4, this::link);
    step(10, this::unlink);
    step(5, this::rmdir);
    step(9, this::rename);
    step(18, this::write);
    step(6, this::append);
    step(6, this::truncate);
    step(8, this::allocate);
    step(5, this::setAttributes);
    RandomXattrs xattrs =
        new RandomXattrs(twins, random, () -> random.nextInt(3) == 0 ? directory() : file());
    step(6, xattrs::set);
    step(3, xattrs::remove);
    step(2, xattrs::get);
    step(8, this::read);
    step(2, this::readDirectory);
    step(2, this::readlink);
    step(6, this::lookup);
    step(3, this::compareAttributes);
    step(2, this::fsync);
    step(1, this::refused);
    holdRoot();
  }

  private void step(int weight, Step step) {
    totalWeight += weight;
    steps.put(totalWeight, step);
  }

  void next() throws IOException {
    twins.clock().advance(Duration.ofMillis(CLOCK_TICK_MILLIS * random.nextInt(500)));
    boolean crowded = inodes > MANY_INODES || twins.full() > fullBefore;
    if (crowded && random.nextInt(20) == 0) {
      removeMuch();
      fullBefore = twins.full();
    } else {
      steps.higherEntry(random.nextInt(totalWeight)).getValue().run();
    }
  }

  /// Gives all nodes back, and holds the root again.
  void releaseAll() throws FsException {
    directories.forEach(TwinNode::close);
    others.forEach(TwinNode::close);
    directories.clear();
    others.clear();
  }

  /// For after the volume was closed with nodes in use.
  void abandonAll() {
    directories.forEach(twin -> twin.model().close());
    others.forEach(twin -> twin.model().close());
    directories.clear();
    others.clear();
  }

  void holdRoot() throws FsException {
    directories.add(new TwinNode("root", twins.model().root(), twins.real().root()));
    TwinNode root = directories.getFirst();
    twins.note("mkdir root/big");
    Both<Node> made = make(root, FileName.of("big"), Volume::mkdir, new NewFile(0755, 0, 0));
    if (made == null) {
      made = lookupTwin(root, FileName.of("big"));
    }
    if (made != null) {
      directories.add(new TwinNode("big", made.model(), made.real()));
    }
  }

  // ---- choices ----

  private TwinNode directory() {
    int choice = random.nextInt(100);
    if (choice < 2 && !others.isEmpty()) {
      return other();
    }
    int known = Math.min(2, directories.size());
    return choice < 50
        ? directories.get(random.nextInt(known))
        : directories.get(random.nextInt(directories.size()));
  }

  private TwinNode other() {
    return others.get(random.nextInt(others.size()));
  }

  /// A file as a rule, null if none is held.
  private TwinNode file() {
    if (random.nextInt(100) == 0) {
      return directories.get(random.nextInt(directories.size()));
    }
    return others.isEmpty() ? null : other();
  }

  private FileName name(TwinNode directory) {
    if (directory.label().equals("big")) {
      int nr = random.nextInt(900);
      return FileName.of("b" + nr + "x".repeat(nr % 97 + 20));
    }
    int nr = random.nextInt(28);
    return switch (random.nextInt(200)) {
      case 0 -> FileName.of(".");
      case 1 -> FileName.of("..");
      case 2 -> FileName.of("x".repeat(256));
      default -> FileName.of(nr % 7 == 0 ? "n" + nr + "y".repeat(200) : "n" + nr);
    };
  }

  private NewFile newFile() {
    return new NewFile(random.nextInt(PERMISSIONS), owner(), owner());
  }

  private long owner() {
    return random.nextInt(4) == 0 ? random.nextLong(1L << 32) : random.nextLong(2_000);
  }

  private MemorySegment someBytes(int maxBytes) {
    int length =
        random.nextInt(8) == 0 ? random.nextInt(maxBytes) + 1 : random.nextInt(typicalBytes);
    return MemorySegment.ofArray(bytes).asSlice(random.nextInt(bytes.length - length), length);
  }

  private long offset(TwinNode file) throws FsException {
    long size =
        file.type() == FileType.REGULAR ? twins.model().attributes(file.model()).sizeBytes() : 0;
    return switch (random.nextInt(40)) {
      case 0 -> random.nextLong(1L << 38);
      case 1 -> size + random.nextLong(1L << 20);
      case 2 -> size / 4096 * 4096;
      case 3, 4, 5, 6, 7 -> size;
      case 8, 9 -> size + random.nextInt(5 * typicalBytes);
      default -> Math.min(random.nextLong(size + 1), 1L << 20);
    };
  }

  private void hold(String label, Both<Node> nodes) {
    if (nodes == null) {
      return;
    }
    List<TwinNode> held = nodes.model().type() == FileType.DIRECTORY ? directories : others;
    int limit = held == directories ? MAX_DIRECTORIES : MAX_OTHERS;
    if (held.size() >= limit) {
      int spared = held == directories ? 2 : 0;
      held.remove(spared + random.nextInt(held.size() - spared)).close();
    }
    held.add(new TwinNode(label, nodes.model(), nodes.real()));
  }

  // ---- names ----

  private interface Maker {
    Node make(Volume volume, Node directory, FileName name, NewFile file) throws FsException;
  }

  private Both<Node> make(TwinNode directory, FileName name, Maker maker, NewFile file)
      throws FsException {
    Both<Node> made =
        twins.both(
            () -> maker.make(twins.model(), directory.model(), name, file),
            () -> maker.make(twins.real(), directory.real(), name, file));
    inodes += made == null ? 0 : 1;
    return made;
  }

  private void make(String kind, Maker maker) throws FsException {
    TwinNode directory = directory();
    FileName name = name(directory);
    NewFile file = newFile();
    twins.note(kind + " " + directory + "/" + name);
    hold("#" + twins.operations(), make(directory, name, maker, file));
  }

  private void create() throws FsException {
    make("create", Volume::create);
  }

  private void mkdir() throws FsException {
    make("mkdir", Volume::mkdir);
  }

  private void symlink() throws FsException {
    int length =
        switch (random.nextInt(10)) {
          case 0 -> 60;
          case 1 -> 59;
          case 2 -> 61;
          case 3, 4 -> 1 + random.nextInt(1_000);
          default -> 1 + random.nextInt(80);
        };
    byte[] target = new byte[length];
    Arrays.fill(target, (byte) ('a' + random.nextInt(26)));
    make(
        "symlink (" + length + " bytes)",
        (volume, directory, name, file) -> volume.symlink(directory, name, target, file));
  }

  private void link() throws FsException {
    TwinNode target = file();
    if (target == null) {
      return;
    }
    TwinNode directory = directory();
    FileName name = name(directory);
    twins.note("link " + target + " to " + directory + "/" + name);
    twins.bothDo(
        () -> twins.model().link(target.model(), directory.model(), name),
        () -> twins.real().link(target.real(), directory.real(), name));
  }

  private void unlink() throws FsException {
    TwinNode directory = directory();
    unlink(directory, name(directory));
  }

  private void unlink(TwinNode directory, FileName name) throws FsException {
    twins.note("unlink " + directory + "/" + name);
    boolean done =
        twins.bothDo(
            () -> twins.model().unlink(directory.model(), name),
            () -> twins.real().unlink(directory.real(), name));
    inodes -= done ? 1 : 0;
  }

  private void rmdir() throws FsException {
    TwinNode directory = directory();
    rmdir(directory, name(directory));
  }

  private void rmdir(TwinNode directory, FileName name) throws FsException {
    twins.note("rmdir " + directory + "/" + name);
    boolean done =
        twins.bothDo(
            () -> twins.model().rmdir(directory.model(), name),
            () -> twins.real().rmdir(directory.real(), name));
    inodes -= done ? 1 : 0;
  }

  private void rename() throws FsException {
    TwinNode from = directory();
    TwinNode to = random.nextInt(3) == 0 ? from : directory();
    FileName fromName = name(from);
    FileName toName = name(to);
    RenameMode mode =
        switch (random.nextInt(8)) {
          case 0 -> RenameMode.NO_REPLACE;
          case 1, 2 -> RenameMode.EXCHANGE;
          default -> RenameMode.REPLACE;
        };
    twins.note("rename " + from + "/" + fromName + " to " + to + "/" + toName + " " + mode);
    twins.bothDo(
        () -> twins.model().rename(from.model(), fromName, to.model(), toName, mode),
        () -> twins.real().rename(from.real(), fromName, to.real(), toName, mode));
  }

  private void lookup() throws FsException {
    TwinNode directory = directory();
    FileName name = name(directory);
    twins.note("lookup " + directory + "/" + name);
    Both<Node> found = lookupTwin(directory, name);
    if (found != null && (name.isDot() || name.isDotDot())) {
      found.model().close();
      found.real().close();
    } else {
      hold("#" + twins.operations(), found);
    }
  }

  private Both<Node> lookupTwin(TwinNode directory, FileName name) throws FsException {
    return twins.both(
        () -> twins.model().lookup(directory.model(), name),
        () -> twins.real().lookup(directory.real(), name));
  }

  /// Empties a directory, and counts how many inodes there are.
  private void removeMuch() throws FsException {
    TwinNode directory = directories.get(random.nextInt(directories.size()));
    twins.note("remove all in " + directory);
    int share = 1 + random.nextInt(3);
    for (FileName name : names(twins.model(), directory.model())) {
      boolean kept = name.isDot() || name.isDotDot() || name.equals(TwinVolumes.LOST_AND_FOUND);
      if (!kept && random.nextInt(3) < share) {
        unlink(directory, name);
        rmdir(directory, name);
      }
    }
    inodes = countInodes();
  }

  private long countInodes() throws FsException {
    return Integer.MAX_VALUE - twins.model().statistics().freeInodes();
  }

  private static List<FileName> names(Volume volume, Node directory) throws FsException {
    List<FileName> names = new ArrayList<>();
    volume.readDirectory(
        directory,
        0,
        (name, ino, type, cookie) -> {
          names.add(name);
          return true;
        });
    return names;
  }

  /// In pieces that continue at cookies.
  private void readDirectory() throws FsException {
    TwinNode directory = directory();
    int pieceEntries = 1 + random.nextInt(200);
    twins.note("readDirectory " + directory + " by " + pieceEntries);
    Both<List<FileName>> names =
        twins.both(
            () -> names(twins.model(), directory.model()),
            () -> namesInPieces(twins.real(), directory.real(), pieceEntries));
    if (names != null) {
      TreeComparison.requireEqual(
          "names",
          names.model().stream().sorted().toList(),
          names.real().stream().sorted().toList());
    }
  }

  private static List<FileName> namesInPieces(Volume volume, Node directory, int pieceEntries)
      throws FsException {
    List<FileName> names = new ArrayList<>();
    long[] last = {0};
    int before = -1;
    while (names.size() > before) {
      before = names.size();
      int stop = before + pieceEntries;
      volume.readDirectory(
          directory,
          last[0],
          (name, ino, type, cookie) -> {
            names.add(name);
            last[0] = cookie;
            return names.size() < stop;
          });
    }
    return names;
  }

  // ---- contents and attributes ----

  private void write() throws FsException {
    TwinNode file = file();
    if (file == null) {
      return;
    }
    long offset = offset(file);
    MemorySegment source = someBytes(MAX_WRITE_BYTES);
    twins.note("write " + file + " at " + offset + ", " + source.byteSize() + " bytes");
    Outcome<Integer> found =
        TwinVolumes.outcome(() -> twins.real().write(file.real(), offset, source));
    twins.amend(found.refused() ? found.toString() : found.value() + " bytes");
    boolean nothing = found.errno() == Errno.ENOSPC;
    boolean partly = !found.refused() && found.value() < source.byteSize();
    if (nothing || partly) {
      twins.requireFull(found);
    }
    if (!nothing) {
      MemorySegment written = partly ? source.asSlice(0, found.value()) : source;
      Outcome<Integer> expected =
          TwinVolumes.outcome(() -> twins.model().write(file.model(), offset, written));
      TreeComparison.requireEqual("errno", expected.errno(), found.errno());
      TreeComparison.requireEqual("bytes written", expected.value(), found.value());
    }
    if (nothing || partly) {
      alignTimes(file);
    }
  }

  /// Whether a write that found no space changed the times is not said.
  private void alignTimes(TwinNode file) throws FsException {
    Instant now = twins.clock().instant();
    AttributeChange change = AttributeChange.times(now, now, null);
    twins.model().setAttributes(file.model(), change);
    twins.real().setAttributes(file.real(), change);
  }

  private void append() throws FsException {
    TwinNode file = file();
    if (file == null) {
      return;
    }
    MemorySegment source = someBytes(3 * MAX_WRITE_BYTES);
    twins.note("append " + file + ", " + source.byteSize() + " bytes");
    Both<Long> offsets =
        twins.both(
            () -> twins.model().append(file.model(), source),
            () -> twins.real().append(file.real(), source));
    if (offsets != null) {
      TreeComparison.requireEqual("offset", offsets.model(), offsets.real());
    } else if (file.type() == FileType.REGULAR) {
      alignTimes(file);
    }
  }

  private void truncate() throws FsException {
    TwinNode file = file();
    if (file == null) {
      return;
    }
    long size = random.nextInt(3) == 0 ? 0 : offset(file);
    twins.note("truncate " + file + " to " + size);
    boolean done =
        twins.bothDo(
            () -> twins.model().truncate(file.model(), size),
            () -> twins.real().truncate(file.real(), size));
    if (!done && file.type() == FileType.REGULAR) {
      alignTimes(file);
    }
  }

  private void allocate() throws FsException {
    TwinNode file = file();
    if (file == null) {
      return;
    }
    long size =
        file.type() == FileType.REGULAR ? twins.model().attributes(file.model()).sizeBytes() : 0;
    long near = Math.min(size, 1L << 20);
    RandomRange range = RandomRange.of(random, near, MAX_RANGE_BYTES);
    twins.note("allocate " + file + " of " + size + " bytes, " + range);
    Outcome<Boolean> found = TwinVolumes.outcome(() -> allocate(twins.real(), file.real(), range));
    twins.amend(found.toString());
    boolean coarser = found.errno() == Errno.EINVAL && RandomRange.moves(range.mode());
    if (found.errno() == Errno.EOPNOTSUPP || coarser) {
      // The file has no extents, or its unit is larger than the model's.
      return;
    }
    if (found.errno() == Errno.ENOSPC) {
      twins.requireFull(found);
      alignContents(file, range);
    } else {
      Outcome<Boolean> expected =
          TwinVolumes.outcome(() -> allocate(twins.model(), file.model(), range));
      TreeComparison.requireEqual("errno", expected.errno(), found.errno());
    }
  }

  private static Boolean allocate(Volume volume, Node file, RandomRange range) throws FsException {
    volume.allocate(file, range.mode(), range.offset(), range.lengthBytes());
    return true;
  }

  /// An operation on a range that found no space may have zeroed what it was asked to zero.
  private void alignContents(TwinNode file, RandomRange range) throws FsException {
    int count = (int) range.lengthBytes();
    MemorySegment bytes = MemorySegment.ofArray(new byte[count]);
    int read = twins.real().read(file.real(), range.offset(), bytes);
    boolean zeroes = zeroing(range.mode());
    byte[] old = new byte[count];
    int before = twins.model().read(file.model(), range.offset(), MemorySegment.ofArray(old));
    TreeComparison.requireEqual("bytes behind the offset", before, read);
    for (int i = 0; i < read; i++) {
      byte now = bytes.get(ValueLayout.JAVA_BYTE, i);
      if (now != old[i] && !(zeroes && now == 0)) {
        throw new AssertionError("at " + (range.offset() + i) + " is " + now + ", was " + old[i]);
      }
    }
    if (read > 0 && zeroes) {
      twins.model().write(file.model(), range.offset(), bytes.asSlice(0, read));
    }
    alignTimes(file);
  }

  private static boolean zeroing(AllocateMode mode) {
    return switch (mode) {
      case PUNCH_HOLE, ZERO_RANGE, ZERO_RANGE_KEEP_SIZE -> true;
      default -> false;
    };
  }

  private void setAttributes() throws FsException {
    TwinNode node = random.nextInt(4) == 0 ? directory() : file();
    if (node == null) {
      return;
    }
    AttributeChange change =
        new AttributeChange(
            random.nextBoolean() ? random.nextInt(PERMISSIONS) : null,
            random.nextInt(3) == 0 ? owner() : null,
            random.nextInt(3) == 0 ? owner() : null,
            random.nextBoolean() ? instant() : null,
            random.nextBoolean() ? instant() : null,
            null);
    twins.note("setAttributes " + node + " " + change);
    twins.bothDo(
        () -> twins.model().setAttributes(node.model(), change),
        () -> twins.real().setAttributes(node.real(), change));
  }

  /// Between 1901 and 2038, so that every inode can hold it.
  private Instant instant() {
    return Instant.ofEpochSecond(random.nextInt(), random.nextInt(1_000_000_000));
  }

  private void read() throws FsException {
    TwinNode file = file();
    if (file == null) {
      return;
    }
    long offset = offset(file);
    int count = random.nextInt(4) == 0 ? random.nextInt(3 * MAX_WRITE_BYTES) : random.nextInt(500);
    twins.note("read " + file + " at " + offset + ", " + count + " bytes");
    MemorySegment expected = MemorySegment.ofArray(new byte[count]);
    MemorySegment found = MemorySegment.ofArray(new byte[count]);
    Both<Integer> counts =
        twins.both(
            () -> twins.model().read(file.model(), offset, expected),
            () -> twins.real().read(file.real(), offset, found));
    if (counts != null) {
      TreeComparison.requireEqual("bytes read", counts.model(), counts.real());
      TreeComparison.requireSameBytes(
          "read", offset, expected.asSlice(0, counts.model()), found.asSlice(0, counts.model()));
    }
  }

  private void readlink() throws FsException {
    TwinNode node = file();
    if (node == null) {
      return;
    }
    twins.note("readlink " + node);
    Both<byte[]> targets =
        twins.both(
            () -> twins.model().readlink(node.model()), () -> twins.real().readlink(node.real()));
    if (targets != null) {
      TreeComparison.requireEqual(
          "target", new String(targets.model()), new String(targets.real()));
    }
  }

  private void compareAttributes() throws FsException {
    TwinNode node = random.nextBoolean() ? directory() : file();
    if (node == null) {
      return;
    }
    twins.note("attributes " + node);
    TreeComparison.compareAttributes(
        node.label(), twins.model().attributes(node.model()), twins.real().attributes(node.real()));
  }

  private void fsync() throws IOException {
    if (random.nextInt(20) == 0) {
      twins.note("sync");
      twins.real().sync();
      return;
    }
    TwinNode node = random.nextBoolean() ? directory() : file();
    if (node != null) {
      twins.note("fsync " + node);
      twins.real().fsync(node.real(), random.nextBoolean()).join();
    }
  }

  /// What every volume refuses.
  private void refused() throws FsException {
    TwinNode file = file();
    if (file == null) {
      return;
    }
    long offset = random.nextBoolean() ? -1 - random.nextLong(1L << 40) : Long.MAX_VALUE - 100_000;
    MemorySegment source = MemorySegment.ofArray(bytes).asSlice(0, 1 + random.nextInt(10));
    twins.note("write " + file + " at " + offset);
    twins.both(
        () -> twins.model().write(file.model(), offset, source),
        () -> twins.real().write(file.real(), offset, source));
    twins.note("truncate " + file + " to " + offset);
    twins.bothDo(
        () -> twins.model().truncate(file.model(), offset),
        () -> twins.real().truncate(file.real(), offset));
  }
}
