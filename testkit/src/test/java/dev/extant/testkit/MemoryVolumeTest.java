package dev.extant.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class MemoryVolumeTest extends VolumeContract {
  private static final NewFile FILE = new NewFile(0644, 0, 0);
  private static final FileName NAME = FileName.of("file");

  @Override
  protected Volume newVolume() {
    return new MemoryVolume();
  }

  @Test
  void aFullVolumeTakesAPrefix() throws FsException {
    MemoryVolume volume = new MemoryVolume(MountOptions.defaults(), 8192);
    try (Node root = volume.root();
        Node file = volume.create(root, NAME, FILE)) {
      MemorySegment bytes = MemorySegment.ofArray(new byte[10_000]);
      assertThatExceptionOfType(FsException.class)
          .isThrownBy(() -> volume.append(file, bytes))
          .matches(e -> e.errno() == Errno.ENOSPC);
      assertThat(volume.attributes(file).sizeBytes()).isZero();
      assertThat(volume.write(file, 96, bytes)).isEqualTo(8192 - 96);
      assertThatExceptionOfType(FsException.class)
          .isThrownBy(() -> volume.write(file, 8192, bytes))
          .matches(e -> e.errno() == Errno.ENOSPC);
      assertThat(volume.write(file, 0, bytes)).isEqualTo(8192);
      volume.unlink(root, NAME);
      assertThat(volume.statistics().freeBlocks()).isZero();
    }
    assertThat(volume.statistics().freeBlocks()).isEqualTo(2);
    assertThat(volume.openReferences()).isZero();
  }

  @Test
  void referencesAreClosedOnce() throws FsException {
    MemoryVolume volume = new MemoryVolume();
    Node root = volume.root();
    assertThat(volume.openReferences()).isEqualTo(1);
    root.close();
    assertThat(volume.openReferences()).isZero();
    assertThatIllegalStateException().isThrownBy(root::close);
    assertThatIllegalStateException().isThrownBy(() -> volume.attributes(root));
    try (Node other = new MemoryVolume().root()) {
      assertThatIllegalArgumentException().isThrownBy(() -> volume.attributes(other));
    }
  }

  @Test
  void accessTimesAreRelative() throws FsException {
    AtomicLong seconds = new AtomicLong(1000);
    MountOptions options =
        MountOptions.defaults().withClock(() -> Instant.ofEpochSecond(seconds.get()));
    MemoryVolume volume = new MemoryVolume(options, 8192);
    MemorySegment one = MemorySegment.ofArray(new byte[1]);
    try (Node root = volume.root();
        Node file = volume.create(root, NAME, FILE)) {
      for (long[] nowAndExpected :
          new long[][] {{2000, 2000}, {3000, 2000}, {88_399, 2000}, {88_400, 88_400}}) {
        seconds.set(nowAndExpected[0]);
        volume.read(file, 0, one);
        assertThat(volume.attributes(file).times().accessed().getEpochSecond())
            .isEqualTo(nowAndExpected[1]);
      }
    }
  }

  @Test
  void contentsAreThoseOfAnArray() {
    long seed = 7;
    Random random = new Random(seed);
    byte[] expected = new byte[100_000];
    int size = 0;
    SparseBytes bytes = new SparseBytes();
    for (int i = 0; i < 2000; i++) {
      int offset = random.nextInt(90_000);
      int length = random.nextInt(9000);
      if (random.nextInt(3) == 0) {
        bytes.truncate(offset);
        if (offset < size) {
          java.util.Arrays.fill(expected, offset, size, (byte) 0);
        }
        size = offset;
      } else if (length > 0) {
        byte[] written = new byte[length];
        random.nextBytes(written);
        bytes.write(offset, MemorySegment.ofArray(written));
        System.arraycopy(written, 0, expected, offset, length);
        size = Math.max(size, offset + length);
      }
      int from = random.nextInt(100_000);
      byte[] read = new byte[random.nextInt(20_000)];
      int count = bytes.read(from, MemorySegment.ofArray(read));
      assertThat(bytes.sizeBytes()).isEqualTo(size);
      assertThat(count).isEqualTo(Math.max(0, Math.min(read.length, size - from)));
      assertThat(
              java.util.Arrays.equals(
                  read, 0, count, expected, Math.min(from, 100_000), from + count))
          .as("step " + i + ", seed " + seed)
          .isTrue();
    }
  }
}
