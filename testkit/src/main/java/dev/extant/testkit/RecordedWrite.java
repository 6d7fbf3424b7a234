package dev.extant.testkit;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.random.RandomGenerator;

/// One write as it was asked for, with a copy of its bytes. `data` null stands for `lengthBytes`
/// zeroes, as which a discard counts too.
public record RecordedWrite(
    long offset, long lengthBytes, byte[] data, boolean fua, boolean discard) {
  /// Copies the segments' bytes.
  static RecordedWrite of(long offset, List<MemorySegment> sources, boolean fua) {
    int length = 0;
    for (MemorySegment source : sources) {
      length = Math.addExact(length, Math.toIntExact(source.byteSize()));
    }
    byte[] data = new byte[length];
    MemorySegment target = MemorySegment.ofArray(data);
    long at = 0;
    for (MemorySegment source : sources) {
      MemorySegment.copy(source, 0, target, at, source.byteSize());
      at += source.byteSize();
    }
    return new RecordedWrite(offset, length, data, fua, false);
  }

  static RecordedWrite zeroes(long offset, long lengthBytes) {
    return new RecordedWrite(offset, lengthBytes, null, false, false);
  }

  static RecordedWrite discard(long offset, long lengthBytes) {
    return new RecordedWrite(offset, lengthBytes, null, false, true);
  }

  public void applyTo(BlockDevice device) throws DeviceException {
    applyTo(device, 0, lengthBytes);
  }

  /// Writes each sector that it touches with the given probability, by itself.
  void applyTorn(BlockDevice device, RandomGenerator random, double probability)
      throws DeviceException {
    int sectorSizeBytes = device.sectorSizeBytes();
    long from = 0;
    while (from < lengthBytes) {
      long to = from + sectorSizeBytes - (offset + from) % sectorSizeBytes;
      to = Math.min(to, lengthBytes);
      if (random.nextDouble() < probability) {
        applyTo(device, from, to);
      }
      from = to;
    }
  }

  private void applyTo(BlockDevice device, long from, long to) throws DeviceException {
    if (data == null) {
      device.writeZeroes(offset + from, to - from);
    } else {
      MemorySegment source = MemorySegment.ofArray(data).asSlice(from, to - from);
      device.write(offset + from, List.of(source), false);
    }
  }
}
