package dev.extant.nio;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.block.RamDevice;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.Images;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/// The same operation on the host's file system and on ours, with every combination of what it may
/// meet; what comes of it must be the same.
@EnabledOnOs(OS.LINUX)
abstract class HostComparison {
  @TempDir Path host;
  Path ours;
  private RamDevice device;
  private Extant mount;
  private final List<String> differences = new ArrayList<>();
  private int compared;

  @BeforeEach
  void mount() throws IOException {
    device = new RamDevice("ram", 32 << 20);
    Mkfs.make(device, MkfsOptions.builder().build());
    mount = Extant.open(DelegatingDevice.withoutClose(device), MountOptions.defaults());
    ours = Files.createDirectory(mount.fileSystem().getPath("/work"));
  }

  @AfterEach
  void closeAndJudge() throws IOException {
    mount.close();
    Images.requireClean(device);
    device.close();
    assertThat(compared).isPositive();
    assertThat(differences.stream().limit(20))
        .as(differences.size() + " of " + compared + " differ")
        .isEmpty();
  }

  /// An operation in a directory of either file system.
  @FunctionalInterface
  interface Operation {
    Object run(Path directory) throws Exception;
  }

  /// Runs it on both and notes a difference of the outcome.
  void compare(String what, Operation operation) {
    Outcome onHost = Outcome.of(() -> operation.run(host));
    Outcome onOurs = Outcome.of(() -> operation.run(ours));
    compared++;
    if (!onOurs.standsFor(onHost)) {
      differences.add(what + ": " + onOurs + " instead of " + onHost);
    }
  }
}
