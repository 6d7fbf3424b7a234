package dev.extant.block;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class OverlayDeviceTest {
  @Test
  void readsItsWritesOverABaseThatStaysAsItWas() throws IOException {
    long seed = 5;
    Random random = new Random(seed);
    // Not a whole number of pages.
    RamDevice base = new RamDevice("base", 300_000 / 512 * 512);
    byte[] model = new byte[(int) base.sizeBytes()];
    random.nextBytes(model);
    base.write(0, List.of(MemorySegment.ofArray(model)), false);
    byte[] untouched = model.clone();
    try (OverlayDevice device = new OverlayDevice(base)) {
      for (int i = 0; i < 300; i++) {
        int length = 1 + random.nextInt(1 << random.nextInt(1, 14));
        int offset =
            random.nextInt(4) == 0 ? model.length - length : random.nextInt(model.length - length);
        byte[] data = new byte[length];
        if (random.nextInt(10) == 0) {
          device.writeZeroes(offset, length);
        } else {
          random.nextBytes(data);
          device.write(offset, List.of(MemorySegment.ofArray(data)), false);
        }
        System.arraycopy(data, 0, model, offset, length);
        assertThat(read(device, 0, model.length)).as("seed %d step %d", seed, i).isEqualTo(model);
      }
      assertThat(read(base, 0, model.length)).isEqualTo(untouched);
    }
  }

  @Test
  void takesMemoryOnlyForWhatIsWritten() throws IOException {
    try (OverlayDevice device = new OverlayDevice(new RamDevice("base", 64 << 20))) {
      assertThat(device.changedBytes()).isZero();
      device.write(5000, List.of(Arena.ofAuto().allocate(10)), false);
      device.write(5100, List.of(Arena.ofAuto().allocate(10)), false);
      device.write(1 << 20, List.of(Arena.ofAuto().allocate(8192)), false);
      assertThat(device.changedBytes()).isEqualTo(3 * 4096);
    }
  }

  private static byte[] read(BlockDevice device, long offset, int length) throws IOException {
    MemorySegment target = Arena.ofAuto().allocate(length);
    device.read(offset, target);
    return target.toArray(ValueLayout.JAVA_BYTE);
  }
}
