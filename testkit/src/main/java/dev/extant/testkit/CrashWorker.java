package dev.extant.testkit;

import dev.extant.testkit.TrackedNames.Item;
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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.LongSupplier;

/// One thread of the workload of a [PowerCutSweep]: random changes to files and names of its own,
/// in a directory of its own and, among other names, in the directory `shared`. It writes down what
/// it begins and what was acknowledged.
final class CrashWorker {
  private static final NewFile NEW_FILE = new NewFile(0644, 1, 1);
  private static final int MAX_FILE_BYTES = 96 << 10;
  private static final int MAX_ITEMS = 60;
  static final int TYPICAL_WRITE_BYTES = 3_000;

  /// An open file without a name. After a cut it may have its name again, so its changes count.
  private record Unnamed(Node node, TrackedContent content) {}

  private interface Change {
    void run() throws FsException;
  }

  private final String home;
  private final String sharedPrefix;
  private final Volume volume;
  private final LongSupplier ticks;
  private final SplittableRandom random;
  private final int typicalBytes;
  private final TrackedNames names = new TrackedNames();

  private final List<Unnamed> unnamed = new ArrayList<>();

  private final List<CompletableFuture<Void>> pending = new ArrayList<>();
  private int nextName;

  /// The last operations on names directly in `home` and in `shared`.
  private int lastInHome;

  private int lastInShared;

  /// Its directory and `shared` must be there and durable.
  CrashWorker(
      int nr, Volume volume, LongSupplier ticks, SplittableRandom random, int typicalBytes) {
    this.typicalBytes = typicalBytes;
    this.home = home(nr);
    this.sharedPrefix = "shared/" + home + "-";
    this.volume = volume;
    this.ticks = ticks;
    this.random = random;
  }

  static String home(int nr) {
    return "w" + nr;
  }

  /// True for the names that this worker makes.
  boolean owns(String path) {
    return path.startsWith(home + "/") || path.startsWith(sharedPrefix);
  }

  TrackedNames names() {
    return names;
  }

  void run(int operations) throws IOException {
    for (int i = 0; i < operations; i++) {
      next();
    }
    for (CompletableFuture<Void> future : pending) {
      join(future);
    }
  }

  /// Gives the files without names back.
  void finish() {
    unnamed.forEach(file -> file.node().close());
    unnamed.clear();
  }

  private void next() throws IOException {
    int choice = random.nextInt(100);
    boolean crowded = names.names().size() > MAX_ITEMS;
    if (choice < 12 && !crowded) {
      create();
    } else if (choice < 17 && !crowded) {
      mkdir();
    } else if (choice < 20 && !crowded) {
      symlink();
    } else if (choice < 24 && !crowded) {
      link();
    } else if (choice < 34) {
      unlink();
    } else if (choice < 38) {
      rmdir();
    } else if (choice < 50) {
      rename();
    } else if (choice < 71) {
      write();
    } else if (choice < 77) {
      allocate();
    } else if (choice < 82) {
      truncate();
    } else if (choice < 84) {
      writeUnnamed();
    } else if (choice < 94) {
      fsync(FileType.REGULAR);
    } else if (choice < 97) {
      fsync(FileType.DIRECTORY);
    } else if (choice < 98) {
      sync();
    } else {
      rarely();
    }
  }

  private void rarely() throws FsException {
    switch (random.nextInt(3)) {
      case 0 -> finish();
      case 1 -> {
        for (int i = 0; i < 25 && names.names().size() < 2 * MAX_ITEMS; i++) {
          create();
        }
      }
      default -> writeScattered();
    }
  }

  // ---- choices ----

  /// The path of a random item of a type, or null.
  private String any(FileType type) {
    List<String> paths = new ArrayList<>();
    names
        .names()
        .forEach(
            (path, item) -> {
              if (item.type == type) {
                paths.add(path);
              }
            });
    return paths.isEmpty() ? null : paths.get(random.nextInt(paths.size()));
  }

  private String newPath() {
    String name = "n" + nextName++ + (random.nextInt(5) == 0 ? "-" + "x".repeat(150) : "");
    String directory = any(FileType.DIRECTORY);
    return switch (random.nextInt(3)) {
      case 0 -> sharedPrefix + name;
      case 1 -> home + "/" + name;
      default -> (directory == null ? home : directory) + "/" + name;
    };
  }

  private static String parent(String path) {
    return path.substring(0, path.lastIndexOf('/'));
  }

  private static FileName name(String path) {
    return FileName.of(path.substring(path.lastIndexOf('/') + 1));
  }

  private Node open(String path) throws FsException {
    Node node = volume.root();
    for (String name : path.split("/")) {
      try (Node directory = node) {
        node = volume.lookup(directory, FileName.of(name));
      }
    }
    return node;
  }

  // ---- names ----

  /// Writes the operation down, then does it. `items` are those whose names change at `paths`.
  private void change(
      String operation,
      SortedMap<String, Item> after,
      List<String> paths,
      List<Item> items,
      Change change)
      throws FsException {
    int nr = names.changed(ticks.getAsLong(), operation, after);
    for (Item item : items) {
      item.lastNamed = nr;
    }
    for (String path : paths) {
      Item directory = after.get(parent(path));
      if (directory != null) {
        directory.lastEntry = nr;
      } else {
        topLevelChanged(path, nr);
      }
    }
    change.run();
  }

  private void topLevelChanged(String path, int nr) {
    if (path.startsWith(sharedPrefix)) {
      lastInShared = nr;
    } else {
      lastInHome = nr;
    }
  }

  private SortedMap<String, Item> copy() {
    return new TreeMap<>(names.names());
  }

  private void add(String operation, String path, Item item, Change change) throws FsException {
    SortedMap<String, Item> after = copy();
    after.put(path, item);
    change(operation + " " + path, after, List.of(path), List.of(item), change);
  }

  private void create() throws FsException {
    String path = newPath();
    try (Node directory = open(parent(path))) {
      add(
          "create",
          path,
          new Item(FileType.REGULAR, null),
          () -> volume.create(directory, name(path), NEW_FILE).close());
    }
  }

  private void mkdir() throws FsException {
    String path = newPath();
    try (Node directory = open(parent(path))) {
      add(
          "mkdir",
          path,
          new Item(FileType.DIRECTORY, null),
          () -> volume.mkdir(directory, name(path), NEW_FILE).close());
    }
  }

  private void symlink() throws FsException {
    String path = newPath();
    byte[] target = new byte[random.nextBoolean() ? 20 : 40 + random.nextInt(200)];
    Arrays.fill(target, (byte) ('a' + random.nextInt(26)));
    try (Node directory = open(parent(path))) {
      add(
          "symlink",
          path,
          new Item(FileType.SYMLINK, target),
          () -> volume.symlink(directory, name(path), target, NEW_FILE).close());
    }
  }

  private void link() throws FsException {
    String old = any(FileType.REGULAR);
    if (old == null) {
      return;
    }
    String path = newPath();
    try (Node target = open(old);
        Node directory = open(parent(path))) {
      add(
          "link " + old + " to",
          path,
          names.names().get(old),
          () -> volume.link(target, directory, name(path)));
    }
  }

  private void unlink() throws FsException {
    String path = any(random.nextInt(6) == 0 ? FileType.SYMLINK : FileType.REGULAR);
    if (path == null) {
      return;
    }
    try (Node directory = open(parent(path));
        Node node = open(path)) {
      SortedMap<String, Item> after = copy();
      Item item = after.remove(path);
      boolean kept = random.nextInt(4) == 0 && !after.containsValue(item);
      change(
          "unlink " + path,
          after,
          List.of(path),
          List.of(item),
          () -> volume.unlink(directory, name(path)));
      if (kept && item.type == FileType.REGULAR) {
        unnamed.add(new Unnamed(node.retain(), item.content));
      }
    }
  }

  private boolean hasEntries(String path) {
    return !names.names().subMap(path + "/", path + "0").isEmpty();
  }

  private void rmdir() throws FsException {
    String path = any(FileType.DIRECTORY);
    if (path == null || hasEntries(path)) {
      return;
    }
    try (Node directory = open(parent(path))) {
      SortedMap<String, Item> after = copy();
      Item item = after.remove(path);
      change(
          "rmdir " + path,
          after,
          List.of(path),
          List.of(item),
          () -> volume.rmdir(directory, name(path)));
    }
  }

  private void rename() throws FsException {
    FileType type =
        switch (random.nextInt(6)) {
          case 0, 1 -> FileType.DIRECTORY;
          case 2 -> FileType.SYMLINK;
          default -> FileType.REGULAR;
        };
    String from = any(type);
    String replaced = random.nextInt(3) == 0 ? any(type) : null;
    String to = replaced == null ? newPath() : replaced;
    boolean below =
        from != null && (to + "/").startsWith(from + "/")
            || from != null && (from + "/").startsWith(to + "/");
    if (from == null || below) {
      return;
    }
    Item there = names.names().get(to);
    boolean exchange = there != null && (hasEntries(to) || random.nextInt(3) == 0);
    if (there == names.names().get(from)) {
      return;
    }
    try (Node fromDirectory = open(parent(from));
        Node toDirectory = open(parent(to))) {
      SortedMap<String, Item> after = new TreeMap<>();
      names
          .names()
          .forEach(
              (path, item) -> {
                if (!path.equals(to) || exchange) {
                  after.put(moved(path, from, to, exchange), item);
                }
              });
      Item item = names.names().get(from);
      RenameMode mode = exchange ? RenameMode.EXCHANGE : RenameMode.REPLACE;
      change(
          "rename " + from + " to " + to + " " + mode,
          after,
          List.of(from, to),
          there == null ? List.of(item) : List.of(item, there),
          () -> volume.rename(fromDirectory, name(from), toDirectory, name(to), mode));
    }
  }

  private static String moved(String path, String from, String to, boolean exchange) {
    if ((path + "/").startsWith(from + "/")) {
      return to + path.substring(from.length());
    }
    return exchange && (path + "/").startsWith(to + "/")
        ? from + path.substring(to.length())
        : path;
  }

  // ---- contents ----

  private byte[] someBytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private void write() throws FsException {
    String path = any(FileType.REGULAR);
    if (path == null) {
      return;
    }
    TrackedContent content = names.names().get(path).content;
    int size = content.sizeBytes();
    int offset =
        switch (random.nextInt(10)) {
          case 0 -> size + random.nextInt(3 * typicalBytes);
          case 1, 2, 3, 4 -> size;
          default -> random.nextInt(size + 1);
        };
    int length =
        random.nextInt(6) == 0
            ? 1 + random.nextInt(8 * typicalBytes)
            : 1 + random.nextInt(typicalBytes);
    if (offset + length > MAX_FILE_BYTES) {
      return;
    }
    try (Node file = open(path)) {
      if (offset == size && random.nextBoolean()) {
        byte[] bytes = someBytes(length);
        content.write(ticks.getAsLong(), offset, bytes);
        volume.append(file, MemorySegment.ofArray(bytes));
      } else {
        write(file, content, offset, length);
      }
    }
  }

  private void write(Node file, TrackedContent content, int offset, int length) throws FsException {
    byte[] bytes = someBytes(length);
    content.write(ticks.getAsLong(), offset, bytes);
    int count = volume.write(file, offset, MemorySegment.ofArray(bytes));
    if (count != length) {
      throw new AssertionError(count + " of " + length + " bytes written");
    }
  }

  /// So that the file has many extents.
  private void writeScattered() throws FsException {
    String path = any(FileType.REGULAR);
    if (path != null) {
      TrackedContent content = names.names().get(path).content;
      try (Node file = open(path)) {
        for (int i = 0; i < 20; i++) {
          write(file, content, random.nextInt(MAX_FILE_BYTES - 100), 100);
        }
      }
    }
  }

  private void truncate() throws FsException {
    String path = any(FileType.REGULAR);
    if (path == null) {
      return;
    }
    TrackedContent content = names.names().get(path).content;
    int size =
        switch (random.nextInt(4)) {
          case 0 -> 0;
          case 1 -> content.sizeBytes() + random.nextInt(3 * typicalBytes);
          default -> random.nextInt(content.sizeBytes() + 1);
        };
    try (Node file = open(path)) {
      content.truncate(ticks.getAsLong(), size);
      volume.truncate(file, size);
    }
  }

  private void allocate() throws FsException {
    String path = any(FileType.REGULAR);
    if (path == null) {
      return;
    }
    TrackedContent content = names.names().get(path).content;
    int size = content.sizeBytes();
    RandomRange range = RandomRange.of(random, size, 6L * typicalBytes);
    boolean suits =
        switch (range.mode()) {
          case COLLAPSE_RANGE -> range.end() < size;
          case INSERT_RANGE ->
              range.offset() < size && size + range.lengthBytes() <= MAX_FILE_BYTES;
          default -> range.end() <= MAX_FILE_BYTES;
        };
    if (!suits) {
      return;
    }
    try (Node file = open(path)) {
      content.allocate(ticks.getAsLong(), range);
      volume.allocate(file, range.mode(), range.offset(), range.lengthBytes());
    } catch (FsException e) {
      // The file has no extents, or its blocks or clusters are larger.
      if (e.errno() != Errno.EOPNOTSUPP && e.errno() != Errno.EINVAL) {
        throw e;
      }
      content.refused(size);
    }
  }

  private void writeUnnamed() throws FsException {
    if (unnamed.isEmpty()) {
      return;
    }
    Unnamed file = unnamed.get(random.nextInt(unnamed.size()));
    byte[] bytes = someBytes(1 + random.nextInt(3 * typicalBytes));
    file.content().write(ticks.getAsLong(), file.content().sizeBytes(), bytes);
    volume.append(file.node(), MemorySegment.ofArray(bytes));
    if (random.nextInt(3) == 0) {
      int size = random.nextInt(3 * typicalBytes);
      file.content().truncate(ticks.getAsLong(), size);
      volume.truncate(file.node(), size);
    }
  }

  // ---- durability ----

  private void fsync(FileType type) throws IOException {
    String path = type == FileType.DIRECTORY ? anyDirectory() : any(type);
    if (path == null) {
      return;
    }
    Item item = names.names().get(path);
    int changes = item == null ? 0 : item.content.changes();
    int state = namesDurableWith(path, item);
    try (Node node = open(path)) {
      CompletableFuture<Void> done =
          volume
              .fsync(node, random.nextInt(4) == 0)
              .thenRun(
                  () -> {
                    long tick = ticks.getAsLong();
                    names.acknowledged(tick, state);
                    if (item != null) {
                      item.content.acknowledged(tick, changes);
                    }
                  });
      if (random.nextInt(4) == 0) {
        pending.add(done);
      } else {
        join(done);
      }
    }
  }

  private String anyDirectory() {
    String directory = any(FileType.DIRECTORY);
    return switch (random.nextInt(4)) {
      case 0 -> home;
      case 1 -> "shared";
      default -> directory == null ? home : directory;
    };
  }

  /// The last operation on names that is durable with an inode: on its own names and, of a
  /// directory, those in it; and on the names on the way to it.
  private int namesDurableWith(String path, Item item) {
    if (item == null) {
      return path.equals(home) ? lastInHome : lastInShared;
    }
    int state = Math.max(item.lastNamed, item.lastEntry);
    for (Map.Entry<String, Item> name : names.names().entrySet()) {
      if (name.getValue() == item) {
        Item above = names.names().get(parent(name.getKey()));
        String directory = parent(name.getKey());
        while (above != null) {
          state = Math.max(state, above.lastNamed);
          directory = parent(directory);
          above = names.names().get(directory);
        }
      }
    }
    return state;
  }

  private void sync() throws FsException {
    int state = names.lastState();
    Map<Item, Integer> changes = new HashMap<>();
    names.names().values().forEach(item -> changes.put(item, item.content.changes()));
    volume.sync();
    long tick = ticks.getAsLong();
    names.acknowledged(tick, state);
    changes.forEach((item, count) -> item.content.acknowledged(tick, count));
  }

  private static void join(CompletableFuture<Void> future) throws IOException {
    try {
      future.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof IOException io) {
        throw io;
      }
      throw e;
    }
  }
}
