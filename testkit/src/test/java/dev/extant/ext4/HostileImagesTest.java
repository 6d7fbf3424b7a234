package dev.extant.ext4;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.HostileImages;
import dev.extant.testkit.ImageWalk;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Each image that means harm is refused, or read as far as it goes, and survives everything that
/// is done to it.
class HostileImagesTest {
  static List<HostileImages.Case> images() throws IOException {
    return HostileImages.make(OurBases.make());
  }

  @ParameterizedTest
  @MethodSource("images")
  void isRefusedOrRead(HostileImages.Case image) {
    String refusal = assertTimeoutPreemptively(ofSeconds(20), () -> firstRefusal(image));
    if (image.reason() != null) {
      assertThat(refusal).contains(image.reason());
    } else {
      assertThat(refusal).isNull();
    }
    assertTimeoutPreemptively(ofSeconds(20), () -> new FuzzedImage(image.device()).run());
  }

  private static String firstRefusal(HostileImages.Case image) {
    try (Ext4Volume volume =
        Ext4.mount(DelegatingDevice.withoutClose(image.device()), MountOptions.parse("ro"))) {
      List<FsException> refusals =
          ImageWalk.of(volume, new ImageWalk.Limits(1000, 1 << 20)).refusals();
      return refusals.isEmpty() ? null : refusals.getFirst().getMessage();
    } catch (FsException refused) {
      return refused.getMessage();
    }
  }
}
