package dev.extant.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.DeviceException;
import dev.extant.block.DeviceException.Kind;
import dev.extant.block.DeviceException.Operation;
import dev.extant.block.RamDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RecordingDeviceTest {
  @Test
  void logsWritesAndFlushesInOrderWithTheirBytes() throws IOException {
    RecordingDevice device = new RecordingDevice(new RamDevice("ram", 1 << 20));
    MemorySegment first = Blocks.sectors(1, 1);
    device.write(512, List.of(first, Blocks.sectors(2, 2)), true);
    first.fill((byte) 9);
    device.flush();
    device.writeZeroes(4096, 100);
    device.discard(0, 512);
    List<RecordingDevice.Entry> entries = device.log().entries();
    assertThat(entries).hasSize(4);
    RecordedWrite write = entries.get(0).write();
    assertThat(write.offset()).isEqualTo(512);
    assertThat(write.lengthBytes()).isEqualTo(3 * 512);
    assertThat(write.fua()).isTrue();
    assertThat(write.data()[0]).isEqualTo((byte) 1);
    assertThat(write.data()[3 * 512 - 1]).isEqualTo((byte) 2);
    assertThat(entries.get(1).flush()).isTrue();
    assertThat(entries.get(2).write().data()).isNull();
    assertThat(entries.get(2).write().lengthBytes()).isEqualTo(100);
    assertThat(entries)
        .extracting(RecordingDevice.Entry::beginTick)
        .containsExactly(0L, 2L, 4L, 6L);
    assertThat(entries).extracting(RecordingDevice.Entry::endTick).containsExactly(1L, 3L, 5L, 7L);
    assertThat(device.discards()).containsExactly(entries.get(3).write());
    assertThat(device.ticks()).isEqualTo(8);
    assertThat(device.nrWrites()).isEqualTo(2);
    assertThat(device.nrFlushes()).isEqualTo(1);
  }

  @Test
  void aFailedOperationHasNoEnd() {
    FaultyDevice faulty = new FaultyDevice(new RamDevice("ram", 1 << 20), 1);
    faulty.failNth(Operation.WRITE, 1, Kind.UNKNOWN);
    RecordingDevice device = new RecordingDevice(faulty);
    assertThatThrownBy(() -> Blocks.write(device, 0, 1, 1)).isInstanceOf(DeviceException.class);
    assertThat(device.log().entries().getFirst().endTick()).isEqualTo(RecordingDevice.NEVER);
  }
}
