package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.FileDevice;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Our mount and the kernel's of one image: multiple mount protection lets only one of them in.
/// Both are told to change the sequence each second.
class MmpWithKernelTest {
  private static final String OPTIONS = "-b 1024 -O mmp -E mmp_update_interval=1";

  @TempDir Path folder;
  private Path image;

  @BeforeEach
  void make() throws IOException {
    Oracles.requireRoot();
    Oracles.require("mke2fs", "e2fsck");
    image = Mke2fs.make(folder.resolve("fs.img"), OPTIONS, "16M");
  }

  private Ext4Volume mount(MultiMountProtection.Sleeper sleeper) throws IOException {
    FileDevice device = FileDevice.open(image, false);
    return Ext4.mount(new Mounter(device, MountOptions.defaults(), sleeper));
  }

  @Test
  void aMountOfTheKernelKeepsUsAway() throws IOException {
    List<Duration> waits = new ArrayList<>();
    MultiMountProtection.Sleeper sleeper =
        duration -> {
          waits.add(duration);
          Thread.sleep(2_500);
        };
    try (KernelMount kernel = KernelMount.of(image, "noatime")) {
      Files.writeString(kernel.root().resolve("file"), "content");
      assertThatThrownBy(() -> mount(sleeper))
          .isInstanceOfSatisfying(
              FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY))
          .hasMessageContainingAll("is in use by", "loop");
      assertThat(waits).containsExactly(Duration.ofSeconds(11));
      Files.writeString(kernel.root().resolve("file"), "other content");
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
    mount(Thread::sleep).close();
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  /// The kernel waits for eleven seconds.
  @Test
  void aMountOfOursKeepsTheKernelAway() throws IOException {
    try (Ext4Volume volume = mount(Thread::sleep)) {
      assertThat(
              Oracles.run(
                      "mount",
                      "-t",
                      "ext4",
                      "-o",
                      "loop",
                      image,
                      Files.createDirectory(folder.resolve("kernel")))
                  .exitCode())
          .isNotZero();
      try (Node root = volume.root();
          Node file = volume.create(root, FileName.of("file"), new NewFile(0644, 0, 0))) {
        volume.append(file, MemorySegment.ofArray(new byte[5000]));
      }
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
    try (KernelMount kernel = KernelMount.of(image, "noatime")) {
      assertThat(Files.size(kernel.root().resolve("file"))).isEqualTo(5000);
      Files.delete(kernel.root().resolve("file"));
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }
}
