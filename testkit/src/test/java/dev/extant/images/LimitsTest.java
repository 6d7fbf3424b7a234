package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.MemoryTempDir;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.AttributeChange;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.RenameMode;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The format's limits: links of a file, subdirectories of a directory, times.
class LimitsTest {
  private static final int LINK_MAX = 65_000;
  private static final NewFile NEW = new NewFile(0755, 0, 0);

  @TempDir(factory = MemoryTempDir.class)
  Path folder;

  private Path image;

  @BeforeAll
  static void needs() {
    Oracles.require("mke2fs", "e2fsck");
  }

  private void mke2fs(int blockSize, String size, Object... more) throws IOException {
    image = folder.resolve("fs.img");
    Object[] all = new Object[more.length + 8];
    System.arraycopy(new Object[] {"-q", "-F", "-t", "ext4", "-b", blockSize}, 0, all, 0, 6);
    System.arraycopy(more, 0, all, 6, more.length);
    all[all.length - 2] = image;
    all[all.length - 1] = size;
    Oracles.run("mke2fs", all).expect(0);
  }

  private void check() throws IOException {
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  private static FileName name(String prefix, int i) {
    return FileName.of(prefix + i);
  }

  private static void assertTooManyLinks(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EMLINK));
  }

  @Test
  void aFileHasNoMoreThan65000Names() throws IOException {
    mke2fs(1024, "24M");
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Volume volume = mount.volume();
      try (Node root = volume.root();
          Node directory = volume.mkdir(root, FileName.of("links"), NEW);
          Node file = volume.create(root, FileName.of("file"), NEW)) {
        for (int i = 1; i < LINK_MAX; i++) {
          volume.link(file, directory, name("l", i));
        }
        assertThat(volume.attributes(file).nlink()).isEqualTo(LINK_MAX);
        assertTooManyLinks(() -> volume.link(file, directory, FileName.of("one-too-many")));
      }
    }
    check();
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Volume volume = mount.volume();
      try (Node root = volume.root();
          Node directory = volume.lookup(root, FileName.of("links"));
          Node file = volume.lookup(root, FileName.of("file"))) {
        for (int i = 1; i < LINK_MAX; i++) {
          volume.unlink(directory, name("l", i));
        }
        assertThat(volume.attributes(file).nlink()).isEqualTo(1);
        volume.rmdir(root, FileName.of("links"));
      }
    }
    check();
  }

  @Test
  void aDirectoryMayHaveMoreSubdirectoriesThanItCounts() throws IOException {
    int count = 66_000;
    mke2fs(1024, "160M", "-N", count + 200, "-I", 128, "-O", "^resize_inode");
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Volume volume = mount.volume();
      try (Node root = volume.root();
          Node directory = volume.mkdir(root, FileName.of("wide"), NEW)) {
        for (int i = 0; i < count; i++) {
          volume.mkdir(directory, name("d", i), NEW).close();
          if (i == LINK_MAX - 3) {
            assertThat(volume.attributes(directory).nlink()).isEqualTo(LINK_MAX);
          }
        }
        assertThat(volume.attributes(directory).nlink()).isEqualTo(1);
      }
    }
    check();
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Volume volume = mount.volume();
      try (Node root = volume.root();
          Node directory = volume.lookup(root, FileName.of("wide"))) {
        for (int i = 0; i < count - 10; i++) {
          volume.rmdir(directory, name("d", i));
        }
        assertThat(volume.attributes(directory).nlink()).isEqualTo(1);
      }
    }
    check();
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Volume volume = mount.volume();
      try (Node root = volume.root();
          Node directory = volume.lookup(root, FileName.of("wide"))) {
        for (int i = count - 10; i < count; i++) {
          volume.rmdir(directory, name("d", i));
        }
        volume.rmdir(root, FileName.of("wide"));
      }
    }
    check();
  }

  @Test
  void withoutDirNlinkADirectoryHasNoMoreThan64998Subdirectories() throws IOException {
    int limit = LINK_MAX - 2;
    mke2fs(1024, "160M", "-N", limit + 300, "-I", 128, "-O", "^resize_inode,^dir_nlink");
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Volume volume = mount.volume();
      try (Node root = volume.root();
          Node directory = volume.mkdir(root, FileName.of("wide"), NEW);
          Node other = volume.mkdir(root, FileName.of("other"), NEW)) {
        for (int i = 0; i < limit; i++) {
          volume.mkdir(directory, name("d", i), NEW).close();
        }
        assertTooManyLinks(() -> volume.mkdir(directory, FileName.of("one-too-many"), NEW));
        volume.mkdir(other, FileName.of("child"), NEW).close();
        assertTooManyLinks(
            () ->
                volume.rename(
                    other,
                    FileName.of("child"),
                    directory,
                    FileName.of("child"),
                    RenameMode.REPLACE));
      }
    }
    check();
  }

  /// Times at the bounds of the format, and what becomes of those beyond: as in Linux the nearest
  /// bound.
  private static Map<String, Instant> times(int inodeSize) {
    Map<String, Instant> times = new LinkedHashMap<>();
    times.put("1969-12-31T23:59:59.999999999Z", null);
    times.put("1901-12-13T20:45:52Z", null);
    times.put("2038-01-19T03:14:07.5Z", null);
    if (inodeSize == 128) {
      times.put("2038-01-19T03:14:08Z", Instant.parse("2038-01-19T03:14:07Z"));
      times.put("2200-01-01T00:00:00Z", Instant.parse("2038-01-19T03:14:07Z"));
    } else {
      times.put("2038-01-19T03:14:08.000000001Z", null);
      times.put("2106-02-07T06:28:16.123456789Z", null);
      times.put("2174-02-25T09:42:23.999999999Z", null);
      times.put("2242-03-16T12:56:32Z", null);
      times.put("2446-05-10T22:38:55Z", null);
      times.put("2446-05-10T22:38:56Z", Instant.parse("2446-05-10T22:38:55Z"));
      times.put("9999-01-01T00:00:00Z", Instant.parse("2446-05-10T22:38:55Z"));
    }
    times.put("1800-01-01T00:00:00Z", Instant.parse("1901-12-13T20:45:52Z"));
    return times;
  }

  @ParameterizedTest
  @ValueSource(ints = {128, 256})
  void timesAreKeptToTheNanosecondAndTheFormatsBounds(int inodeSize) throws IOException {
    mke2fs(1024, "8M", "-I", inodeSize);
    Map<String, Instant> times = times(inodeSize);
    Map<String, Instant> expected = new LinkedHashMap<>();
    times.forEach(
        (text, clamped) -> {
          Instant time = clamped != null ? clamped : Instant.parse(text);
          expected.put(
              text, inodeSize == 128 ? Instant.ofEpochSecond(time.getEpochSecond()) : time);
        });
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Volume volume = mount.volume();
      try (Node root = volume.root()) {
        for (String text : times.keySet()) {
          try (Node file = volume.create(root, FileName.of(text), NEW)) {
            Instant time = Instant.parse(text);
            volume.setAttributes(file, AttributeChange.times(time, time, time));
          }
        }
      }
    }
    check();
    try (Extant mount = Extant.open(image, MountOptions.parse("ro"))) {
      assertTimes(mount.fileSystem().getPath("/"), expected);
      if (inodeSize > 128) {
        for (Map.Entry<String, Instant> entry : expected.entrySet()) {
          assertThat(
                  Files.getAttribute(
                      mount.fileSystem().getPath("/" + entry.getKey()), "creationTime"))
              .isEqualTo(FileTime.from(entry.getValue()));
        }
      }
    }
    if (Oracles.find("mount").isPresent() && "root".equals(System.getProperty("user.name"))) {
      try (KernelMount kernel = KernelMount.of(image, "ro")) {
        assertTimes(kernel.root(), expected);
      }
    }
  }

  private static void assertTimes(Path root, Map<String, Instant> expected) throws IOException {
    for (Map.Entry<String, Instant> entry : expected.entrySet()) {
      for (String attribute : new String[] {"lastModifiedTime", "lastAccessTime"}) {
        Object time =
            Files.getAttribute(root.resolve(entry.getKey()), attribute, LinkOption.NOFOLLOW_LINKS);
        assertThat(time).as(entry.getKey()).isEqualTo(FileTime.from(entry.getValue()));
      }
    }
  }

  /// Times that the kernel wrote are read as they are.
  @ParameterizedTest
  @CsvSource({"256, 1950-01-01T00:00:00.5Z", "256, 2400-01-01T00:00:00.123456789Z"})
  void theKernelsTimesAreRead(int inodeSize, Instant time) throws IOException {
    Oracles.requireRoot();
    mke2fs(1024, "8M", "-I", inodeSize);
    try (KernelMount kernel = KernelMount.of(image, "rw")) {
      Path file = Files.createFile(kernel.root().resolve("file"));
      Oracles.run("touch", "-d", time, file).expect(0);
    }
    try (Extant mount = Extant.open(image, MountOptions.parse("ro"))) {
      assertThat(Files.getLastModifiedTime(mount.fileSystem().getPath("/file")))
          .isEqualTo(FileTime.from(time));
    }
  }
}
