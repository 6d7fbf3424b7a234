package dev.extant.util;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class Crc16Test {
  private final MemorySegment check =
      MemorySegment.ofArray("123456789".getBytes(StandardCharsets.US_ASCII));

  @Test
  void givesTheKnownCheckValues() {
    assertThat(Crc16.update(0, check, 0, 9)).isEqualTo(0xBB3D);
    assertThat(Crc16.update(~0, check, 0, 9)).isEqualTo(0x4B37);
  }

  @Test
  void countsNumbersByTheirBytes() {
    int number = Le.i32(check, 2);
    assertThat(Crc16.updateLe32(77, number)).isEqualTo(Crc16.update(77, check, 2, 4));
  }
}
