package dev.extant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.extant.block.DeviceException;
import dev.extant.block.RamDevice;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.FaultyDevice;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Durability of paths, and of all mounts of the JVM at once.
@Timeout(60)
class SyncAllTest {
  private static final MountOptions NO_TIMER = MountOptions.parse("commit=0");
  private static final int SIZE_BYTES = 8 << 20;

  private final List<RamDevice> devices = new ArrayList<>();
  private final List<Extant> mounts = new ArrayList<>();

  @AfterEach
  void close() throws IOException {
    for (Extant mount : mounts) {
      mount.close();
    }
    devices.forEach(RamDevice::close);
  }

  private RamDevice device() throws IOException {
    RamDevice device = new RamDevice("ram" + devices.size(), SIZE_BYTES);
    devices.add(device);
    Mkfs.make(device, MkfsOptions.builder().build());
    return device;
  }

  private Extant mount(RamDevice device) throws IOException {
    Extant mount = Extant.open(DelegatingDevice.withoutClose(device), NO_TIMER);
    mounts.add(mount);
    return mount;
  }

  /// What would be found after a crash now.
  private static boolean survives(RamDevice device, String path) throws IOException {
    try (RamDevice copy = new RamDevice("copy", SIZE_BYTES)) {
      copy.memory().copyFrom(device.memory());
      try (Extant mount = Extant.open(DelegatingDevice.withoutClose(copy), NO_TIMER)) {
        return Files.exists(mount.fileSystem().getPath(path));
      }
    }
  }

  @Test
  void fsyncOfFilesAndDirectories() throws Exception {
    RamDevice device = device();
    Extant mount = mount(device);
    Path directory = Files.createDirectory(mount.fileSystem().getPath("/directory"));
    Path file = Files.writeString(directory.resolve("file"), "abc");
    assertThat(survives(device, "/directory/file")).isFalse();
    Extant.fsync(file).get();
    assertThat(survives(device, "/directory/file")).isTrue();
    Files.move(file, directory.resolve("moved"));
    assertThat(survives(device, "/directory/moved")).isFalse();
    Extant.fsync(directory).get();
    assertThat(survives(device, "/directory/moved")).isTrue();
  }

  @Test
  void everyMountIsSynced() throws IOException {
    List<RamDevice> all = List.of(device(), device(), device());
    for (RamDevice device : all) {
      Files.writeString(mount(device).fileSystem().getPath("/file"), "abc");
      assertThat(survives(device, "/file")).isFalse();
    }
    Extant.syncAll();
    for (RamDevice device : all) {
      assertThat(survives(device, "/file")).isTrue();
    }
    assertThat(mounts.getFirst().statistics().journal().commits()).isPositive();
  }

  @Test
  void oneThatFailsKeepsNoOtherFromIt() throws IOException {
    RamDevice good = device();
    FaultyDevice faulty = new FaultyDevice(DelegatingDevice.withoutClose(device()), 1);
    Extant broken = Extant.open(faulty, NO_TIMER);
    Files.writeString(broken.fileSystem().getPath("/file"), "abc");
    Files.writeString(mount(good).fileSystem().getPath("/file"), "abc");
    faulty.failNth(DeviceException.Operation.FLUSH, 1, DeviceException.Kind.UNKNOWN);
    assertThatExceptionOfType(IOException.class).isThrownBy(Extant::syncAll);
    assertThat(survives(good, "/file")).isTrue();
    assertThatExceptionOfType(IOException.class).isThrownBy(broken::close);
    Extant.syncAll();
  }

  @Test
  void oneWhoseVolumeWasClosedIsClosed() throws IOException {
    RamDevice device = device();
    Extant mount = mount(device);
    Files.writeString(mount.fileSystem().getPath("/file"), "abc");
    mount.volume().close();
    Extant.syncAll();
    assertThat(mount.fileSystem().isOpen()).isFalse();
    assertThat(survives(device, "/file")).isTrue();
  }

  @Test
  void mountsThatAreClosedMeanwhile() throws Exception {
    for (int round = 0; round < 20; round++) {
      RamDevice device = device();
      Extant mount = mount(device);
      Files.writeString(mount.fileSystem().getPath("/file"), "abc");
      CompletableFuture<Void> closing =
          CompletableFuture.runAsync(
              () -> {
                try {
                  mount.close();
                } catch (IOException e) {
                  throw new java.io.UncheckedIOException(e);
                }
              });
      Extant.syncAll();
      assertThat(survives(device, "/file")).isTrue();
      closing.get();
      devices.remove(device);
      mounts.remove(mount);
      device.close();
    }
  }
}
