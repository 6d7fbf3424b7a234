package dev.extant.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.block.BlockDevice;
import dev.extant.block.OverlayDevice;
import dev.extant.block.RamDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

final class CutStatesTest {
  private final RamDevice base = new RamDevice("ram", 1 << 20);
  private final RecordingDevice device =
      new RecordingDevice(new OverlayDevice(DelegatingDevice.withoutClose(base)));

  @Test
  void nothingIsThereBeforeTheFirstWriteBegins() throws IOException {
    Blocks.write(device, 0, 1, 1);
    assertThat(states(0, 1)).containsExactly("[0]");
  }

  @Test
  void theBaseStaysAsItWasAndShowsThrough() throws IOException {
    Blocks.write(base, 3, 1, 5);
    Blocks.write(device, 0, 1, 1);
    device.flush();
    assertThat(states(device.ticks(), 4)).containsExactly("[1, 0, 0, 5]");
    assertThat(Blocks.values(base, 0, 4)).containsExactly(0, 0, 0, 5);
  }

  @Test
  void anUnflushedWriteMayBeThereLostOrTorn() throws IOException {
    Blocks.write(device, 0, 2, 1);
    Set<String> any = Set.of("[0, 0]", "[0, 1]", "[1, 0]", "[1, 1]");
    assertThat(states(device.ticks(), 2)).isEqualTo(any);
    // In flight: begun, not ended.
    assertThat(states(1, 2)).isEqualTo(any);
  }

  @Test
  void aFlushSettlesOnlyWhenItHasEnded() throws IOException {
    Blocks.write(device, 0, 1, 1);
    device.flush();
    assertThat(states(3, 1)).isEqualTo(Set.of("[0]", "[1]"));
    assertThat(states(4, 1)).containsExactly("[1]");
  }

  @Test
  void fuaSettlesItselfAndNothingElse() throws IOException {
    Blocks.write(device, 0, 1, 1);
    Blocks.writeFua(device, 1, 1, 1);
    assertThat(states(device.ticks(), 2)).isEqualTo(Set.of("[0, 1]", "[1, 1]"));
    assertThat(states(device.ticks() - 1, 2))
        .isEqualTo(Set.of("[0, 0]", "[0, 1]", "[1, 0]", "[1, 1]"));
  }

  @Test
  void writesAreReordered() throws IOException {
    for (int i = 0; i < 3; i++) {
      Blocks.write(device, i, 1, 1);
    }
    assertThat(states(device.ticks(), 3)).hasSize(8);
  }

  @Test
  void theLaterOfTwoWritesWins() throws IOException {
    Blocks.write(device, 0, 1, 1);
    Blocks.write(device, 0, 1, 2);
    assertThat(states(device.ticks(), 1)).isEqualTo(Set.of("[0]", "[1]", "[2]"));
    device.flush();
    assertThat(states(device.ticks(), 1)).containsExactly("[2]");
  }

  @Test
  void aFlushDoesNotCoverAWriteThatEndedAfterItBegan() throws IOException {
    RecordedWrite write = RecordedWrite.of(0, List.of(Blocks.sectors(1, 1)), false);
    RecordingDevice.Log log =
        new RecordingDevice.Log(
            List.of(new RecordingDevice.Entry(write, 0, 2), new RecordingDevice.Entry(null, 1, 3)),
            4);
    assertThat(states(new CutStates(base, log), 4, 1)).isEqualTo(Set.of("[0]", "[1]"));
  }

  @Test
  void theSameSeedGivesTheSameState() throws IOException {
    for (int i = 0; i < 50; i++) {
      Blocks.write(device, i, 3, i);
    }
    CutStates states = new CutStates(base, device.log());
    try (BlockDevice first = states.materialise(60, 4);
        BlockDevice second = states.materialise(60, 4);
        BlockDevice third = states.materialise(60, 5)) {
      assertThat(Blocks.values(first, 0, 60)).isEqualTo(Blocks.values(second, 0, 60));
      assertThat(Blocks.values(first, 0, 60)).isNotEqualTo(Blocks.values(third, 0, 60));
    }
  }

  /// Unaligned writes of any length: every byte is one that was written there at the time or
  /// before.
  @Test
  void noByteIsInvented() throws IOException {
    long seed = Seeds.fixed(11);
    Random random = new Random(seed);
    int size = 16 * 512;
    byte[] settled = new byte[size];
    byte[][] versions = new byte[60][];
    for (int i = 0; i < versions.length; i++) {
      int length = 1 + random.nextInt(2_000);
      int offset = random.nextInt(size - length);
      byte[] data = new byte[length];
      Arrays.fill(data, (byte) (i + 1));
      device.write(offset, List.of(MemorySegment.ofArray(data)), false);
      versions[i] = i == 0 ? new byte[size] : versions[i - 1].clone();
      System.arraycopy(data, 0, versions[i], offset, length);
      if (i == 30) {
        device.flush();
        settled = versions[i];
      }
    }
    CutStates states = new CutStates(base, device.log());
    for (int state = 0; state < 200; state++) {
      byte[] data = bytes(states.materialise(device.ticks(), state), size);
      for (int at = 0; at < size; at++) {
        boolean known = data[at] == settled[at];
        for (int i = 31; i < versions.length && !known; i++) {
          known = data[at] == versions[i][at];
        }
        assertThat(known).as("seed %d state %d byte %d", seed, state, at).isTrue();
      }
    }
  }

  private static byte[] bytes(BlockDevice device, int size) throws IOException {
    try (device) {
      MemorySegment target = MemorySegment.ofArray(new byte[size]);
      device.read(0, target);
      return target.toArray(ValueLayout.JAVA_BYTE);
    }
  }

  private Set<String> states(long cutTick, int nrSectors) throws IOException {
    return states(new CutStates(base, device.log()), cutTick, nrSectors);
  }

  private static Set<String> states(CutStates states, long cutTick, int nrSectors)
      throws IOException {
    Set<String> seen = new TreeSet<>();
    for (int seed = 0; seed < 300; seed++) {
      try (BlockDevice state = states.materialise(cutTick, seed)) {
        seen.add(Arrays.toString(Blocks.values(state, 0, nrSectors)));
      }
    }
    return seen;
  }
}
