package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.TreeSnapshot;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ResizeTest {
  private static final long MIB = 1L << 20;

  @TempDir Path directory;
  private Path image;

  @BeforeEach
  void tools() {
    Oracles.require("mke2fs", "e2fsck", "dumpe2fs");
    image = directory.resolve("resized.img");
  }

  private void make(String options, long sizeMebibytes) throws IOException {
    List<Object> arguments = new ArrayList<>(List.of(options.replace('/', ',').split(" ")));
    arguments.addAll(List.of("-q", image, sizeMebibytes + "M"));
    Oracles.run("mke2fs", arguments.toArray()).expect(0);
  }

  private void fill(String name, int files) throws IOException {
    try (Extant mounted = Extant.open(image, MountOptions.defaults())) {
      Path root = mounted.fileSystem().getPath("/" + name);
      for (int i = 0; i < files; i++) {
        Path parent = Files.createDirectories(root.resolve("d" + i % 11));
        Files.writeString(parent.resolve("file" + i), name + " content ".repeat(i) + i);
      }
    }
  }

  private TreeSnapshot tree() throws IOException {
    try (Extant mounted = Extant.open(image, MountOptions.defaults().withReadOnly(true))) {
      return TreeSnapshot.of(mounted.volume());
    }
  }

  private void clean() throws IOException {
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  @ParameterizedTest
  @CsvSource({
    "-t ext4 -b 1024, 20, 64",
    "-t ext4 -b 1024, 20, 20",
    "-t ext4 -b 1024, 20, 1000",
    "-t ext4 -b 1024, 100, 101",
    "-t ext4 -b 1024 -O ^resize_inode, 20, 700",
    "-t ext4 -b 1024 -E resize=70000, 60, 2500",
    "-t ext4 -b 1024 -O meta_bg/^resize_inode, 20, 600",
    "-t ext4 -b 1024 -O ^flex_bg/^sparse_super/^resize_inode, 30, 200",
    "-t ext4 -b 1024 -O sparse_super2, 30, 200",
    "-t ext4 -b 1024 -O ^metadata_csum/uninit_bg, 30, 200",
    "-t ext4 -b 1024 -O ^metadata_csum/^uninit_bg, 30, 200",
    "-t ext4 -b 1024 -O ^has_journal, 30, 3000",
    "-t ext4 -b 1024 -O ^64bit -J size=1, 30, 3000",
    "-t ext4 -b 1024 -O bigalloc -C 8192, 100, 900",
    "-t ext4 -b 4096, 100, 5000",
    "-t ext4 -b 4096 -I 1024 -i 4096, 300, 1100",
  })
  void grows(String options, long from, long to) throws IOException {
    make(options, from);
    fill("before", 100);
    TreeSnapshot before = tree();
    long reached = Extant.resize(image, to * MIB);
    assertThat(reached).isBetween(Math.max(from, to - 8) * MIB, to * MIB);
    assertThat(Files.size(image)).isEqualTo(to * MIB);
    clean();
    assertThat(tree().entries().keySet()).isEqualTo(before.entries().keySet());
    fill("after", 300);
    clean();
    if (to > 2 * from) {
      fillBeyond(from * MIB);
    }
    Oracles.requireRoot();
    try (KernelMount mounted = KernelMount.of(image, "rw")) {
      Files.writeString(mounted.root().resolve("by-the-kernel"), "written");
      assertThat(mounted.root().toFile().getTotalSpace()).isGreaterThan(to * MIB * 3 / 4);
    }
    clean();
  }

  /// More than the old size had room for.
  private void fillBeyond(long bytes) throws IOException {
    try (Extant mounted = Extant.open(image, MountOptions.defaults())) {
      Path large = mounted.fileSystem().getPath("/large");
      byte[] chunk = new byte[1 << 20];
      try (var out = Files.newOutputStream(large)) {
        for (long written = 0; written < bytes + MIB; written += chunk.length) {
          out.write(chunk);
        }
      }
    }
    clean();
  }
}
