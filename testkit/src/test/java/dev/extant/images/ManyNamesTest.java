package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.block.RamDevice;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.Images;
import dev.extant.testkit.MemoryTempDir;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.FileName;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Many names in one directory, a million in the long form: what a name costs does not grow with
/// their number.
class ManyNamesTest {
  private static final int NAMES = LongRuns.WANTED ? 1_000_000 : 60_000;
  private static final int SLICE = NAMES / 10;
  private static final NewFile NEW = new NewFile(0644, 0, 0);

  @TempDir(factory = MemoryTempDir.class)
  Path folder;

  private static final class CountingDevice extends DelegatingDevice {
    final AtomicLong bytesRead = new AtomicLong();
    final AtomicLong bytesWritten = new AtomicLong();

    CountingDevice(BlockDevice base) {
      super(base);
    }

    @Override
    public void read(long offset, MemorySegment target) throws DeviceException {
      bytesRead.addAndGet(target.byteSize());
      super.read(offset, target);
    }

    @Override
    public void write(long offset, List<MemorySegment> sources, boolean fua)
        throws DeviceException {
      sources.forEach(source -> bytesWritten.addAndGet(source.byteSize()));
      super.write(offset, sources, fua);
    }
  }

  private interface OneName {
    void run(FileName name) throws IOException;
  }

  /// Does something for all names; returns what the first and the last slice took.
  private static long[] sliced(OneName action) throws IOException {
    long[] nanos = new long[NAMES / SLICE];
    for (int slice = 0; slice < nanos.length; slice++) {
      long begin = System.nanoTime();
      for (int i = slice * SLICE; i < (slice + 1) * SLICE; i++) {
        action.run(FileName.of("some-file-name-" + i));
      }
      nanos[slice] = System.nanoTime() - begin;
    }
    return nanos;
  }

  @Test
  void namesDoNotGetDearerWithTheirNumber() throws IOException {
    RamDevice ram = new RamDevice("many names", (64L << 20) + NAMES * 1_000L);
    Mkfs.make(ram, MkfsOptions.builder().inodesCount(NAMES + 1000).journalMebibytes(32).build());
    CountingDevice device = new CountingDevice(ram);
    Path image = folder.resolve("fs.img");
    try (ram) {
      try (Extant mount = Extant.open(DelegatingDevice.withoutClose(device), options())) {
        createAndLookUp(mount.volume(), device);
      }
      try (Extant mount = Extant.open(DelegatingDevice.withoutClose(device), options())) {
        lookUpCold(mount.volume(), device);
      }
      Images.copy(ram, image);
      Oracles.run("e2fsck", "-fn", image).expect(0);
      try (Extant mount = Extant.open(DelegatingDevice.withoutClose(device), options())) {
        Volume volume = mount.volume();
        try (Node root = volume.root();
            Node directory = volume.lookup(root, FileName.of("many"))) {
          assertSteady("unlink", sliced(name -> volume.unlink(directory, name)));
          volume.rmdir(root, FileName.of("many"));
        }
      }
      Images.copy(ram, image);
      Oracles.run("e2fsck", "-fn", image).expect(0);
    }
  }

  private static MountOptions options() {
    return MountOptions.parse("noatime");
  }

  private static void createAndLookUp(Volume volume, CountingDevice device) throws IOException {
    try (Node root = volume.root();
        Node directory = volume.mkdir(root, FileName.of("many"), NEW)) {
      long writtenBefore = device.bytesWritten.get();
      assertSteady("create", sliced(name -> volume.create(directory, name, NEW).close()));
      volume.sync();
      long perName = (device.bytesWritten.get() - writtenBefore) / NAMES;
      assertThat(perName).as("bytes written per name").isLessThan(4_000);
      assertSteady("look up", sliced(name -> volume.lookup(directory, name).close()));
    }
  }

  /// With nothing in memory, finding one name reads the index's path, a leaf and the inode.
  private static void lookUpCold(Volume volume, CountingDevice device) throws IOException {
    try (Node root = volume.root();
        Node directory = volume.lookup(root, FileName.of("many"))) {
      long before = device.bytesRead.get();
      volume.lookup(directory, FileName.of("some-file-name-" + NAMES * 7 / 9)).close();
      assertThat(device.bytesRead.get() - before).isLessThan(12 * 4096);
    }
  }

  /// Four times is far above noise and far below what a search through all names would cost.
  private static void assertSteady(String what, long[] nanos) {
    long[] perName = Arrays.stream(nanos).map(slice -> slice / SLICE).toArray();
    LongRuns.tell("%s, ns per name in tenths of %d: %s", what, NAMES, Arrays.toString(perName));
    long early = Math.min(nanos[1], nanos[2]);
    long late = Math.min(nanos[nanos.length - 1], nanos[nanos.length - 2]);
    assertThat((double) late / early).as("%s: late over early", what).isLessThan(4);
  }
}
