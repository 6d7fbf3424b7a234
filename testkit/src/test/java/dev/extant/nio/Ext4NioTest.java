package dev.extant.nio;

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
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/// The contract on our provider over ext4 on two devices in memory, a new directory for each test;
/// afterwards e2fsck finds nothing.
class Ext4NioTest extends NioContract {
  private static Mounted first;
  private static Mounted second;

  private final Path directory = first.newDirectory();

  /// A device and its mount.
  private record Mounted(RamDevice device, Extant mount, AtomicInteger directories) {
    static Mounted make(String name) throws IOException {
      RamDevice device = new RamDevice(name, 64L << 20);
      Mkfs.make(device, MkfsOptions.builder().build());
      Extant mount = Extant.open(DelegatingDevice.withoutClose(device), MountOptions.defaults());
      return new Mounted(device, mount, new AtomicInteger());
    }

    Path newDirectory() {
      try {
        return Files.createDirectory(
            mount.fileSystem().getPath("/contract" + directories.getAndIncrement()));
      } catch (IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
    }

    void closeAndCheck() throws IOException {
      mount.close();
      Images.requireClean(device);
      device.close();
    }
  }

  @BeforeAll
  static void mount() throws IOException {
    first = Mounted.make("first.img");
    second = Mounted.make("second.img");
  }

  @AfterAll
  static void closeAndCheck() throws IOException {
    first.closeAndCheck();
    second.closeAndCheck();
  }

  @Override
  public Path directory() {
    return directory;
  }

  @Override
  public Path otherDirectory() {
    return second.newDirectory();
  }

  @Override
  public boolean differs(Difference difference) {
    return true;
  }
}
