package dev.extant.testkit;

import dev.extant.block.BlockDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;

/// Short forms for tests of devices, in sectors of 512 bytes that are filled with one value.
final class Blocks {
  static final int SECTOR = 512;

  private Blocks() {}

  static void write(BlockDevice device, long sectorNr, int count, int value) throws IOException {
    device.write(sectorNr * SECTOR, List.of(sectors(count, value)), false);
  }

  static void writeFua(BlockDevice device, long sectorNr, int count, int value) throws IOException {
    device.write(sectorNr * SECTOR, List.of(sectors(count, value)), true);
  }

  static MemorySegment sectors(int count, int value) {
    byte[] data = new byte[count * SECTOR];
    Arrays.fill(data, (byte) value);
    return MemorySegment.ofArray(data);
  }

  /// The value that fills each sector; fails if one is filled with several.
  static int[] values(BlockDevice device, long sectorNr, int count) throws IOException {
    MemorySegment target = MemorySegment.ofArray(new byte[count * SECTOR]);
    device.read(sectorNr * SECTOR, target);
    byte[] data = target.toArray(ValueLayout.JAVA_BYTE);
    int[] values = new int[count];
    for (int i = 0; i < data.length; i++) {
      if (i % SECTOR == 0) {
        values[i / SECTOR] = data[i];
      } else if (data[i] != values[i / SECTOR]) {
        throw new AssertionError("sector " + (sectorNr + i / SECTOR) + " is torn");
      }
    }
    return values;
  }
}
