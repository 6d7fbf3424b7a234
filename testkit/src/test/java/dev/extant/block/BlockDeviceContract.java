package dev.extant.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.DeviceException.Kind;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What every writable device must do. A subclass says how to make one.
abstract class BlockDeviceContract {
  private static final long SIZE_BYTES = 4 << 20;

  private final List<BlockDevice> opened = new ArrayList<>();

  /// A new device of the given size, all zeroes.
  protected abstract BlockDevice create(long sizeBytes) throws IOException;

  @AfterEach
  void closeDevices() throws IOException {
    for (BlockDevice device : opened) {
      device.close();
    }
  }

  private BlockDevice device() throws IOException {
    BlockDevice device = create(SIZE_BYTES);
    opened.add(device);
    return device;
  }

  @Test
  void isZeroesAtFirst() throws IOException {
    assertThat(read(device(), 0, (int) SIZE_BYTES)).containsOnly(0);
  }

  @Test
  void knowsItsSize() throws IOException {
    assertThat(device().sizeBytes()).isEqualTo(SIZE_BYTES);
    assertThat(device().sectorSizeBytes()).isIn(512, 4096);
    assertThat(device().readOnly()).isFalse();
  }

  @Test
  void readsWhatWasWritten() throws IOException {
    long seed = 1;
    Random random = new Random(seed);
    BlockDevice device = device();
    byte[] model = new byte[(int) SIZE_BYTES];
    for (int i = 0; i < 200; i++) {
      int length = 1 + random.nextInt(1 << random.nextInt(1, 18));
      int offset = random.nextInt((int) SIZE_BYTES - length);
      byte[] data = new byte[length];
      random.nextBytes(data);
      device.write(offset, List.of(segment(data)), random.nextInt(10) == 0);
      System.arraycopy(data, 0, model, offset, length);
    }
    device.flush();
    assertThat(read(device, 0, model.length)).as("seed %d", seed).isEqualTo(model);
    assertThat(read(device, 1023, 12_345))
        .isEqualTo(Arrays.copyOfRange(model, 1023, 1023 + 12_345));
  }

  @Test
  void gathersSegmentsOfAllSizes() throws IOException {
    long seed = 2;
    Random random = new Random(seed);
    BlockDevice device = device();
    for (int round = 0; round < 20; round++) {
      List<MemorySegment> sources = new ArrayList<>();
      byte[] model = new byte[1 << 20];
      int used = 0;
      while (sources.size() < 2_000) {
        int length = random.nextInt(20) == 0 ? random.nextInt(300_000) : random.nextInt(1_000);
        if (used + length > model.length) {
          break;
        }
        byte[] data = new byte[length];
        random.nextBytes(data);
        System.arraycopy(data, 0, model, used, length);
        sources.add(random.nextBoolean() ? segment(data) : MemorySegment.ofArray(data));
        used += length;
      }
      device.write(777, sources, false);
      assertThat(read(device, 777, used)).as("seed %d", seed).isEqualTo(Arrays.copyOf(model, used));
    }
  }

  @Test
  void writesZeroes() throws IOException {
    BlockDevice device = device();
    byte[] ones = new byte[(int) SIZE_BYTES];
    Arrays.fill(ones, (byte) 1);
    device.write(0, List.of(segment(ones)), false);
    device.writeZeroes(1000, 1_000_000);
    Arrays.fill(ones, 1000, 1_001_000, (byte) 0);
    assertThat(read(device, 0, ones.length)).isEqualTo(ones);
  }

  @Test
  void takesDiscardAsAHint() throws IOException {
    BlockDevice device = device();
    device.discard(4096, 8192);
    assertThat(read(device, 4096, 8192)).containsOnly(0);
  }

  @Test
  void takesEmptyTransfers() throws IOException {
    BlockDevice device = device();
    device.write(SIZE_BYTES, List.of(), false);
    device.read(SIZE_BYTES, segment(new byte[0]));
    device.writeZeroes(SIZE_BYTES, 0);
  }

  @Test
  void refusesWhatIsOutsideAndStaysWell() throws IOException {
    BlockDevice device = device();
    MemorySegment data = segment(new byte[512]);
    assertRefused(() -> device.read(SIZE_BYTES - 511, data));
    assertRefused(() -> device.read(-1, data));
    assertRefused(() -> device.write(SIZE_BYTES - 511, List.of(data), false));
    assertRefused(() -> device.write(Long.MAX_VALUE, List.of(data), false));
    assertRefused(() -> device.writeZeroes(SIZE_BYTES, 1));
    assertRefused(() -> device.writeZeroes(0, -1));
    assertRefused(() -> device.discard(0, SIZE_BYTES + 1));
    device.write(0, List.of(data), true);
    device.flush();
  }

  @Test
  void closesTwice() throws IOException {
    BlockDevice device = device();
    device.close();
    device.close();
  }

  private static void assertRefused(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            DeviceException.class, e -> assertThat(e.kind()).isEqualTo(Kind.REFUSED));
  }

  protected static MemorySegment segment(byte[] data) {
    MemorySegment segment =
        Arena.ofAuto().allocate(Math.max(1, data.length)).asSlice(0, data.length);
    MemorySegment.copy(data, 0, segment, ValueLayout.JAVA_BYTE, 0, data.length);
    return segment;
  }

  protected static byte[] read(BlockDevice device, long offset, int length) throws IOException {
    MemorySegment target = segment(new byte[length]);
    device.read(offset, target);
    return target.toArray(ValueLayout.JAVA_BYTE);
  }
}
