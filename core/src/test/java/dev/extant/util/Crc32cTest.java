package dev.extant.util;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class Crc32cTest {
  /// One bit at a time, straight from the definition.
  private static int slow(int seed, byte[] bytes) {
    int state = seed;
    for (byte octet : bytes) {
      state ^= octet & 0xff;
      for (int bit = 0; bit < 8; bit++) {
        state = (state & 1) != 0 ? state >>> 1 ^ 0x82F63B78 : state >>> 1;
      }
    }
    return state;
  }

  @Test
  void givesTheCheckValueOfTheCastagnoliCrc() {
    byte[] check = "123456789".getBytes(StandardCharsets.US_ASCII);
    assertThat(~Crc32c.update(~0, check)).isEqualTo(0xE3069283);
  }

  @Test
  void agreesWithTheDefinitionForAnySeedLengthAndOffset() {
    long seed = 42;
    Random random = new Random(seed);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment segment = arena.allocate(5000);
      for (int round = 0; round < 400; round++) {
        byte[] bytes = new byte[random.nextInt(round < 200 ? 64 : 4097)];
        random.nextBytes(bytes);
        int start = random.nextInt();
        int offset = random.nextInt(100);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, segment, offset, bytes.length);
        int expected = slow(start, bytes);
        assertThat(Crc32c.update(start, segment, offset, bytes.length))
            .as("seed %d, round %d, %d bytes", seed, round, bytes.length)
            .isEqualTo(expected);
        assertThat(Crc32c.update(start, bytes)).isEqualTo(expected);
      }
    }
  }

  @Test
  void zeroesCanBeTakenBack() {
    int state = Crc32c.updateZeroes(0x12345678, 1000);
    assertThat(Crc32c.beforeZeroes(state, 1000)).isEqualTo(0x12345678);
  }

  @Test
  void continuesWhereAnEarlierCallEnded() {
    byte[] bytes = new byte[300];
    new Random(7).nextBytes(bytes);
    MemorySegment segment = MemorySegment.ofArray(bytes);
    int whole = Crc32c.update(~0, segment);
    for (int cut = 0; cut <= bytes.length; cut += 13) {
      int first = Crc32c.update(~0, segment, 0, cut);
      assertThat(Crc32c.update(first, segment, cut, bytes.length - cut)).isEqualTo(whole);
    }
  }

  @Test
  void countsNumbersByTheirBytes() {
    assertThat(Crc32c.updateLe32(5, 0x04030201)).isEqualTo(slow(5, new byte[] {1, 2, 3, 4}));
    assertThat(Crc32c.updateBe32(5, 0x04030201)).isEqualTo(slow(5, new byte[] {4, 3, 2, 1}));
    assertThat(Crc32c.updateLe64(5, 0x0807060504030201L))
        .isEqualTo(slow(5, new byte[] {1, 2, 3, 4, 5, 6, 7, 8}));
    assertThat(Crc32c.updateZeroes(5, 3)).isEqualTo(slow(5, new byte[3]));
  }

  @Test
  void readsSegmentsThatMayNotBeWritten() {
    MemorySegment segment = MemorySegment.ofArray(new byte[100]).asReadOnly();
    assertThat(Crc32c.update(1, segment)).isEqualTo(slow(1, new byte[100]));
  }
}
