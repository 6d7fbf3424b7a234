package dev.extant.images;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// A seeded script of changes to a tree that began as a [SampleTree]: create, overwrite, append,
/// truncate, rename, unlink, mkdir, rmdir, link, chmod. The same seed does the same to any file
/// system that behaves alike, so the host can be the model.
final class BulkChanges {
  private static final int STEPS = 700;
  private static final int LARGE_BYTES = 12 << 20;
  private static final Instant TIME = Instant.parse("2022-01-01T00:00:00Z");

  private final Path root;
  private final Random random;
  private final List<String> files = new ArrayList<>();
  private final List<String> directories = new ArrayList<>();
  private int serial;

  private BulkChanges(Path root, long seed) {
    this.root = root;
    this.random = new Random(seed);
  }

  static void apply(Path root, long seed) throws IOException {
    BulkChanges changes = new BulkChanges(root, seed);
    changes.begin();
    for (int i = 0; i < STEPS; i++) {
      changes.step();
    }
    changes.end();
  }

  private void begin() throws IOException {
    directories.add("big");
    directories.add("deep-0");
    for (int i = 0; i < SampleTree.BIG_DIRECTORY_NAMES; i++) {
      files.add("big/a name of some length, number " + i);
    }
    files.add("large");
    files.add("sparse");
    files.add("sizes/size-12289");
    write("twelve-mebibytes", 0, LARGE_BYTES);
    files.add("twelve-mebibytes");
    Files.delete(root.resolve("symlink-60"));
    Files.delete(root.resolve("symlink-59"));
    Files.createSymbolicLink(
        root.resolve("new-symlink"), root.getFileSystem().getPath("s".repeat(60)));
    Files.delete(root.resolve("fifo"));
  }

  private String any(List<String> names) {
    return names.get(random.nextInt(names.size()));
  }

  private String newName() {
    String name = "new-" + serial++ + "x".repeat(random.nextInt(60));
    return any(directories) + "/" + name;
  }

  private void write(String name, long offset, int size) throws IOException {
    byte[] bytes = new byte[size];
    random.nextBytes(bytes);
    try (FileChannel channel =
        FileChannel.open(root.resolve(name), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      while (buffer.hasRemaining()) {
        channel.write(buffer, offset + buffer.position());
      }
    }
    stamp(name);
  }

  private void stamp(String name) throws IOException {
    Files.setLastModifiedTime(root.resolve(name), FileTime.from(TIME.plusSeconds(serial)));
  }

  private int someSize() {
    int size = random.nextInt(20_000);
    return random.nextInt(30) == 0 ? size * 40 : size;
  }

  private void step() throws IOException {
    switch (random.nextInt(12)) {
      case 0, 1, 2 -> {
        String name = newName();
        write(name, random.nextInt(10) == 0 ? 100_000 : 0, someSize());
        files.add(name);
      }
      case 3 -> {
        String name = any(files);
        long size = Files.size(root.resolve(name));
        write(name, (long) (random.nextDouble() * size), someSize());
      }
      case 4 -> {
        String name = any(files);
        write(name, Files.size(root.resolve(name)), someSize());
      }
      case 5 -> truncate(any(files));
      case 6, 7 -> rename();
      case 8 -> {
        String name = files.remove(random.nextInt(files.size()));
        Files.delete(root.resolve(name));
      }
      case 9 -> {
        String name = newName();
        Files.createDirectory(root.resolve(name));
        directories.add(name);
      }
      case 10 -> removeDirectory();
      default -> {
        String link = newName();
        String name = any(files);
        Files.createLink(root.resolve(link), root.resolve(name));
        Files.setAttribute(root.resolve(name), "unix:mode", 0100600 | random.nextInt(0100));
        files.add(link);
      }
    }
  }

  private void truncate(String name) throws IOException {
    try (FileChannel channel = FileChannel.open(root.resolve(name), StandardOpenOption.WRITE)) {
      channel.truncate((long) (random.nextDouble() * channel.size()));
    }
    stamp(name);
  }

  private void rename() throws IOException {
    int index = random.nextInt(files.size());
    String from = files.get(index);
    if (random.nextInt(4) == 0) {
      int over = random.nextInt(files.size());
      if (over != index && !sameFile(from, files.get(over))) {
        Files.move(
            root.resolve(from), root.resolve(files.get(over)), StandardCopyOption.ATOMIC_MOVE);
        files.remove(index);
      }
      return;
    }
    String to = newName();
    Files.move(root.resolve(from), root.resolve(to));
    files.set(index, to);
  }

  private boolean sameFile(String one, String other) throws IOException {
    return Files.isSameFile(root.resolve(one), root.resolve(other));
  }

  private void removeDirectory() throws IOException {
    String victim = any(directories);
    boolean empty =
        files.stream().noneMatch(name -> name.startsWith(victim + "/"))
            && directories.stream().noneMatch(name -> name.startsWith(victim + "/"))
            && victim.contains("/");
    if (empty) {
      Files.delete(root.resolve(victim));
      directories.remove(victim);
    }
  }

  /// Moves a whole tree, and removes half of the big directory's first names.
  private void end() throws IOException {
    Files.move(root.resolve("deep-0/deep-1"), root.resolve("big/moved"));
    List<String> victims =
        files.stream().filter(name -> name.startsWith("big/a name") && name.endsWith("3")).toList();
    for (String victim : victims) {
      Files.delete(root.resolve(victim));
    }
  }
}
