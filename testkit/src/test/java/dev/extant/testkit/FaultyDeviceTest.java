package dev.extant.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.DeviceException;
import dev.extant.block.DeviceException.Kind;
import dev.extant.block.DeviceException.Operation;
import dev.extant.block.RamDevice;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

final class FaultyDeviceTest {
  private final RamDevice base = new RamDevice("ram", 1 << 20);
  private final FaultyDevice device = new FaultyDevice(base, Seeds.fixed(3));

  @Test
  void failsTheNthWriteAndAllWritesAndFlushesAfterIt() throws IOException {
    Blocks.write(device, 0, 1, 1);
    device.failNth(Operation.WRITE, 2, Kind.NO_SPACE);
    Blocks.write(device, 1, 1, 1);
    assertFails(() -> Blocks.write(device, 2, 1, 1), Kind.NO_SPACE, "No space left");
    device.clearFaults();
    assertFails(() -> Blocks.write(device, 0, 1, 7), Kind.NO_SPACE, "an earlier operation failed");
    assertFails(device::flush, Kind.NO_SPACE, "offset 1024");
    assertFails(() -> device.writeZeroes(0, 512), Kind.NO_SPACE, "offset 1024");
    assertThat(Blocks.values(device, 0, 2)).containsExactly(1, 1);
    assertThat(device.nrFailures()).isEqualTo(1);
  }

  @Test
  void failsTheNthFlushAndAllWritesAndFlushesAfterIt() throws IOException {
    device.failNth(Operation.FLUSH, 2, Kind.FENCED);
    device.flush();
    assertFails(device::flush, Kind.FENCED, "planned");
    assertFails(device::flush, Kind.FENCED, "an earlier operation failed");
    assertFails(() -> Blocks.write(device, 0, 1, 1), Kind.FENCED, "an earlier operation failed");
    assertThat(Blocks.values(device, 0, 1)).containsExactly(0);
  }

  @Test
  void aFailedReadSpoilsNothing() throws IOException {
    device.failNth(Operation.READ, 1, Kind.UNKNOWN);
    assertFails(() -> Blocks.values(device, 0, 1), Kind.UNKNOWN, "512 bytes at offset 0");
    Blocks.write(device, 0, 1, 1);
    device.flush();
    assertThat(Blocks.values(device, 0, 1)).containsExactly(1);
  }

  @Test
  void failsWhateverTouchesARange() throws IOException {
    device.failRange(Operation.READ, 1024, 512, Kind.UNKNOWN);
    Blocks.values(device, 0, 2);
    Blocks.values(device, 3, 2);
    for (int i = 0; i < 2; i++) {
      assertFails(() -> Blocks.values(device, 1, 2), Kind.UNKNOWN, "offset 512");
      assertFails(() -> Blocks.values(device, 2, 1), Kind.UNKNOWN, "offset 1024");
    }
    assertThat(device.nrFailures()).isEqualTo(4);
  }

  @Test
  void aFailedWriteMayLeaveAnyOfItsSectors() throws IOException {
    Set<String> seen = new HashSet<>();
    for (int seed = 0; seed < 200; seed++) {
      RamDevice ram = new RamDevice("ram", 4096);
      FaultyDevice faulty = new FaultyDevice(ram, seed);
      faulty.failNth(Operation.WRITE, 1, Kind.UNKNOWN);
      assertThatThrownBy(() -> Blocks.write(faulty, 1, 2, 1)).isInstanceOf(DeviceException.class);
      seen.add(Arrays.toString(Blocks.values(ram, 0, 4)));
      ram.close();
    }
    assertThat(seen)
        .containsExactlyInAnyOrder("[0, 0, 0, 0]", "[0, 1, 0, 0]", "[0, 0, 1, 0]", "[0, 1, 1, 0]");
  }

  private static void assertFails(ThrowingCallable call, Kind kind, String message) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(DeviceException.class, e -> assertThat(e.kind()).isEqualTo(kind))
        .hasMessageContaining(message);
  }
}
