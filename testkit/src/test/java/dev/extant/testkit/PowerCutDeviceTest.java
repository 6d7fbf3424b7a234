package dev.extant.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.RamDevice;
import java.io.IOException;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

final class PowerCutDeviceTest {
  private final RamDevice base = new RamDevice("ram", 1 << 20);

  @Test
  void theCacheIsVolatileUntilTheFlush() throws IOException {
    PowerCutDevice device = new PowerCutDevice(base);
    Blocks.write(device, 0, 1, 1);
    assertThat(Blocks.values(device, 0, 2)).containsExactly(1, 0);
    assertThat(Blocks.values(base, 0, 2)).containsExactly(0, 0);
    device.flush();
    assertThat(Blocks.values(base, 0, 2)).containsExactly(1, 0);
    Blocks.write(device, 1, 1, 1);
    device.cutPowerAndLoseAll();
    assertThat(Blocks.values(base, 0, 2)).containsExactly(1, 0);
  }

  @Test
  void everyCallFailsAfterTheCut() throws IOException {
    PowerCutDevice device = new PowerCutDevice(base);
    device.cutPower(1);
    device.cutPower(2);
    assertThatThrownBy(device::flush).hasMessageContaining("the power is cut");
    assertThatThrownBy(() -> Blocks.write(device, 0, 1, 1)).hasMessageContaining("power");
    assertThatThrownBy(() -> Blocks.values(device, 0, 1)).hasMessageContaining("power");
    assertThatThrownBy(() -> device.writeZeroes(0, 1)).hasMessageContaining("power");
    device.close();
    assertThat(Blocks.values(base, 0, 1)).containsExactly(0);
  }

  @Test
  void leavesAnyLegalState() throws IOException {
    Set<String> seen = new TreeSet<>();
    for (int seed = 0; seed < 300; seed++) {
      base.writeZeroes(0, base.sizeBytes());
      PowerCutDevice device = new PowerCutDevice(base);
      Blocks.write(device, 0, 1, 1);
      Blocks.write(device, 1, 1, 1);
      Blocks.writeFua(device, 1, 1, 2);
      Blocks.write(device, 2, 1, 1);
      device.cutPower(seed);
      seen.add(Arrays.toString(Blocks.values(base, 0, 3)));
    }
    assertThat(seen).isEqualTo(Set.of("[0, 2, 0]", "[0, 2, 1]", "[1, 2, 0]", "[1, 2, 1]"));
  }
}
