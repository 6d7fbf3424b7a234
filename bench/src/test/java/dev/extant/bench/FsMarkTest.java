package dev.extant.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.Extant;
import dev.extant.block.RamDevice;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FsMarkTest {
  @Test
  void storesEveryFileAndCountsIt() throws IOException {
    RamDevice device = new RamDevice("ram", 64L << 20);
    Mkfs.make(device, MkfsOptions.builder().build());
    try (Extant mount = Extant.open(device, MountOptions.defaults())) {
      FsMark.Result result = FsMark.run(mount, "run", new FsMark.Load(4, 50, 4096));
      assertThat(result.filesPerSecond()).isPositive();
      assertThat(result.commits()).isBetween(1L, 200L);
      assertThat(result.p50Nanos()).isBetween(1L, result.p99Nanos());
      assertThat(result.p99Nanos()).isLessThanOrEqualTo(result.maxNanos());
      try (var files = Files.walk(mount.fileSystem().getPath("/run"))) {
        assertThat(files.filter(Files::isRegularFile)).hasSize(200).allMatch(FsMarkTest::isFull);
      }
    }
  }

  private static boolean isFull(Path file) {
    try {
      return Files.size(file) == 4096;
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void comparesWithTheKernelRoundByRound() throws IOException {
    Oracles.requireRoot();
    Oracles.require("fs_mark", "mke2fs", "mount", "losetup");
    List<String> progress = new ArrayList<>();
    List<FsMarkComparison.Row> rows;
    // Not a @TempDir: fs_mark takes short paths only.
    Path folder = Files.createTempDirectory("fsm");
    try {
      FsMarkComparison.Plan plan = new FsMarkComparison.Plan(List.of(2), 40, 1, folder, null, true);
      rows = new FsMarkComparison(plan, progress::add).run();
    } finally {
      Files.delete(folder);
    }
    assertThat(rows)
        .extracting(row -> row.system() + " on " + row.medium())
        .containsExactly(
            "extant on ram", "kernel on ram", "extant on memory file", "kernel on memory file");
    assertThat(rows).allMatch(row -> row.filesPerSecond() > 0 && row.ratioToKernel() > 0);
    assertThat(progress).hasSize(2);
  }

  @Test
  void readsTheFiguresOfFsMark() throws IOException {
    String output =
        """
        #  ./fs_mark  -d  /mnt  -s  4096  -n  20  -t  2
        FSUse%        Count         Size    Files/sec     App Overhead
             0           40         4096        123.4              567
        """;
    assertThat(KernelFsMark.filesPerSecond(output)).isEqualTo(123.4);
    assertThatThrownBy(() -> KernelFsMark.filesPerSecond("usage:"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no figures");
  }
}
