package dev.extant.images;

import dev.extant.testkit.Oracles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Random;

/// A small tree with everything that `mke2fs -d` copies: sizes around block bounds, holes, owners,
/// modes, times, hard links, symbolic links of critical lengths, special files, big directories.
/// Needs root, for the owners.
final class SampleTree {
  static final int BIG_DIRECTORY_NAMES = 400;
  private static final int[] SIZES = {
    0, 1, 59, 60, 61, 1023, 1024, 1025, 4095, 4096, 4097, 12 * 1024 + 1, 65_536, 300_001
  };
  private static final int[] TARGET_LENGTHS = {1, 58, 59, 60, 61, 200, 1000};
  private static final Instant TIME = Instant.parse("2021-03-04T05:06:07Z");

  private final Path root;
  private final Random random = new Random(1);

  private SampleTree(Path root) {
    this.root = root;
  }

  static void make(Path root) throws IOException {
    Files.createDirectories(root);
    SampleTree tree = new SampleTree(root);
    tree.files();
    tree.links();
    tree.bigDirectory();
    tree.modesAndOwners();
    Oracles.run("mkfifo", root.resolve("fifo")).expect(0);
    Oracles.run("mknod", root.resolve("device"), "b", "259", "70000").expect(0);
    tree.times();
  }

  private byte[] bytes(int size) {
    byte[] bytes = new byte[size];
    random.nextBytes(bytes);
    return bytes;
  }

  private void files() throws IOException {
    Path directory = Files.createDirectory(root.resolve("sizes"));
    for (int size : SIZES) {
      Files.write(directory.resolve("size-" + size), bytes(size));
    }
    Files.write(root.resolve("large"), bytes((5 << 20) + 777));
    try (FileChannel channel =
        FileChannel.open(
            root.resolve("sparse"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      for (long at = 100_000; at < 30_000_000; at *= 3) {
        channel.write(ByteBuffer.wrap(bytes(5_000)), at);
      }
    }
    Path deep = root;
    for (int depth = 0; depth < 12; depth++) {
      deep = Files.createDirectory(deep.resolve("deep-" + depth));
    }
    Files.write(deep.resolve("bottom"), bytes(10));
    Files.write(root.resolve("name with spaces, ümläuts and \n a new line"), bytes(10));
    Files.write(root.resolve("n".repeat(255)), bytes(255));
  }

  private void links() throws IOException {
    Files.createLink(root.resolve("hard-link"), root.resolve("sizes/size-4097"));
    Files.createLink(root.resolve("deep-0/hard-link"), root.resolve("sizes/size-4097"));
    for (int length : TARGET_LENGTHS) {
      Files.createSymbolicLink(root.resolve("symlink-" + length), Path.of("t".repeat(length)));
    }
  }

  private void bigDirectory() throws IOException {
    Path directory = Files.createDirectory(root.resolve("big"));
    for (int i = 0; i < BIG_DIRECTORY_NAMES; i++) {
      Files.write(directory.resolve("a name of some length, number " + i), bytes(i % 7));
    }
  }

  private void modesAndOwners() throws IOException {
    Path directory = Files.createDirectory(root.resolve("modes"));
    String[] modes = {"rwxrwxrwx", "---------", "r--r-----", "rwx------"};
    for (String mode : modes) {
      Path file = Files.write(directory.resolve(mode), bytes(3));
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    }
    Path special = Files.write(directory.resolve("special"), bytes(3));
    Files.setAttribute(special, "unix:uid", 70_000);
    Files.setAttribute(special, "unix:gid", 123_456_789);
    Files.setAttribute(special, "unix:mode", 0106755);
    Path sticky = Files.createDirectory(directory.resolve("sticky"));
    Files.setAttribute(sticky, "unix:mode", 0041777);
    Path link = Files.createSymbolicLink(directory.resolve("link"), Path.of("special"));
    Files.setAttribute(link, "unix:uid", 1234, LinkOption.NOFOLLOW_LINKS);
  }

  private void times() throws IOException {
    for (int size : SIZES) {
      Files.setLastModifiedTime(
          root.resolve("sizes/size-" + size), FileTime.from(TIME.plusSeconds(size)));
    }
    Files.setLastModifiedTime(
        root.resolve("modes/special"), FileTime.from(Instant.parse("1969-07-20T20:17:40Z")));
    Files.setLastModifiedTime(root.resolve("large"), FileTime.from(TIME.plusNanos(987_654_321)));
  }
}
