package dev.extant.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.RamDevice;
import dev.extant.vfs.MountOptions.AccessTime;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

class ModelCheckTest {
  /// The model in the place of the volume under test; it forgets nothing when it is closed.
  private static DeviceOpener memory(String brokenMethod, int brokenFromCall) {
    Volume[] volume = new Volume[1];
    int[] calls = {0};
    return (device, options) -> {
      if (volume[0] == null) {
        assertThat(options.accessTime()).isEqualTo(AccessTime.NOATIME);
        volume[0] = new MemoryVolume(options, 1L << 40);
      }
      return (Volume)
          Proxy.newProxyInstance(
              Volume.class.getClassLoader(),
              new Class<?>[] {Volume.class},
              (proxy, method, arguments) -> {
                boolean broken =
                    method.getName().equals(brokenMethod) && ++calls[0] >= brokenFromCall;
                if (broken || method.getName().equals("close")) {
                  return null;
                }
                try {
                  return method.invoke(volume[0], arguments);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              });
    };
  }

  private static ModelCheck.Report check(DeviceOpener opener, long operations) throws IOException {
    try (RamDevice device = new RamDevice("none", 4096)) {
      return new ModelCheck(opener, device, Seeds.fixed(1)).run(operations);
    }
  }

  @Test
  void theModelDoesNotDifferFromItself() throws IOException {
    ModelCheck.Report report = check(memory("", 0), 30_000);
    assertThat(report.operations()).isGreaterThanOrEqualTo(30_000);
    assertThat(report.refused()).isBetween(2_000L, 20_000L);
    assertThat(report.full()).isZero();
    assertThat(report.reopens()).isPositive();
  }

  @Test
  void aLostOperationIsFound() {
    for (String method : new String[] {"unlink", "truncate", "setAttributes", "link", "rename"}) {
      assertThatThrownBy(() -> check(memory(method, 500), 30_000))
          .as(method)
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("seed 1")
          .hasMessageContaining("Last operations:");
    }
  }
}
