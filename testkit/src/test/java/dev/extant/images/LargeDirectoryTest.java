package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Directories whose index has three levels, which it has with blocks of 1 KiB and long names soon;
/// and those that may have two only. Names are links to a few files.
class LargeDirectoryTest {
  private static final int NAMES = 40_000;
  private static final NewFile NEW = new NewFile(0644, 0, 0);
  private static final String PADDING = "x".repeat(240);

  @TempDir Path folder;

  @BeforeAll
  static void needs() {
    Oracles.requireRoot();
    Oracles.require("mke2fs", "e2fsck", "debugfs");
  }

  private Path make(String features) throws IOException {
    return Mke2fs.make(folder.resolve("image"), "-b 1024 -O " + features, "48M");
  }

  private static FileName name(int nr) {
    return FileName.of(PADDING + nr);
  }

  /// Links names to a file until there are `end` or no more fit; returns how many there are.
  private static int link(Volume volume, int from, int end) throws FsException {
    try (Node root = volume.root();
        Node directory = volume.lookup(root, FileName.of("large"));
        Node file = volume.lookup(root, FileName.of("file"))) {
      for (int i = from; i < end; i++) {
        try {
          volume.link(file, directory, name(i));
        } catch (FsException e) {
          assertThat(e.errno()).isEqualTo(Errno.ENOSPC);
          return i;
        }
      }
      return end;
    }
  }

  private static void prepare(Volume volume) throws FsException {
    try (Node root = volume.root()) {
      volume.mkdir(root, FileName.of("large"), new NewFile(0755, 0, 0)).close();
      volume.create(root, FileName.of("file"), NEW).close();
    }
  }

  private static void e2fsck(Path image) throws IOException {
    BothChecks.pass(image);
  }

  private static Set<String> list(Path directory) throws IOException {
    Set<String> names = new TreeSet<>();
    try (Stream<Path> paths = Files.list(directory)) {
      paths.forEach(path -> names.add(path.getFileName().toString()));
    }
    return names;
  }

  private static Set<String> expected(int from, int end) {
    Set<String> names = new TreeSet<>();
    for (int i = from; i < end; i++) {
      names.add(PADDING + i);
    }
    return names;
  }

  @Test
  void anIndexOfThreeLevelsGoesToTheKernelAndBack() throws IOException {
    Path image = make("large_dir");
    try (Extant mount = Extant.open(image, MountOptions.parse("noatime"))) {
      prepare(mount.volume());
      assertThat(link(mount.volume(), 0, NAMES)).isEqualTo(NAMES);
    }
    assertThat(Oracles.run("debugfs", "-R", "htree_dump /large", image).output())
        .contains("Indirect levels: 2");
    e2fsck(image);
    try (KernelMount kernel = KernelMount.of(image, "noatime")) {
      Path large = kernel.root().resolve("large");
      assertThat(list(large)).isEqualTo(expected(0, NAMES));
      for (int i = NAMES; i < NAMES + 3000; i++) {
        Files.createLink(large.resolve(PADDING + i), kernel.root().resolve("file"));
      }
      for (int i = 0; i < 3000; i++) {
        Files.delete(large.resolve(PADDING + i));
      }
    }
    try (Extant mount = Extant.open(image, MountOptions.parse("noatime"))) {
      Path large = mount.fileSystem().getPath("/large");
      assertThat(list(large)).isEqualTo(expected(3000, NAMES + 3000));
      try (Node root = mount.volume().root();
          Node directory = mount.volume().lookup(root, FileName.of("large"))) {
        for (int i = 3000; i < NAMES; i++) {
          mount.volume().unlink(directory, name(i));
        }
      }
      assertThat(list(large)).isEqualTo(expected(NAMES, NAMES + 3000));
    }
    e2fsck(image);
  }

  @Test
  void withoutTheFeatureItIsFullWithTwoLevels() throws IOException {
    Path image = make("^large_dir");
    int count;
    try (Extant mount = Extant.open(image, MountOptions.parse("noatime"))) {
      prepare(mount.volume());
      count = link(mount.volume(), 0, NAMES);
      assertThat(count).isBetween(NAMES / 4, NAMES - 1);
      assertThat(list(mount.fileSystem().getPath("/large"))).isEqualTo(expected(0, count));
    }
    e2fsck(image);
    try (KernelMount kernel = KernelMount.of(image, "noatime")) {
      assertThat(list(kernel.root().resolve("large"))).hasSize(count);
    }
  }
}
