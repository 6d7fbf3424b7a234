package dev.extant.vfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.extant.vfs.MountOptions.AccessTime;
import dev.extant.vfs.MountOptions.DataMode;
import dev.extant.vfs.MountOptions.ErrorPolicy;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MountOptionsTest {
  @Test
  void nothingGivenMeansDefaults() {
    assertThat(MountOptions.parse("")).isEqualTo(MountOptions.defaults());
    assertThat(MountOptions.parse("defaults,rw")).isEqualTo(MountOptions.defaults());
    assertThat(MountOptions.fromMap(Map.of())).isEqualTo(MountOptions.defaults());
  }

  @Test
  void everyOptionIsRead() {
    MountOptions options =
        MountOptions.parse(
            "ro, data=journal,commit=30,nobarrier,errors=remount-ro,noload,noatime,cache=64M,discard");
    assertThat(options.readOnly()).isTrue();
    assertThat(options.data()).isEqualTo(DataMode.JOURNAL);
    assertThat(options.commitIntervalSeconds()).isEqualTo(30);
    assertThat(options.barrier()).isFalse();
    assertThat(options.errors()).isEqualTo(ErrorPolicy.REMOUNT_RO);
    assertThat(options.noload()).isTrue();
    assertThat(options.accessTime()).isEqualTo(AccessTime.NOATIME);
    assertThat(options.cacheBytes()).isEqualTo(64L << 20);
    assertThat(options.ignoreJournal()).isFalse();
  }

  @Test
  void batchingIsReadInAnyOrder() {
    assertThat(MountOptions.defaults().batching())
        .isEqualTo(new Batching(Batching.Rule.EXPECTED, 250, 0, 15_000));
    assertThat(
            MountOptions.parse("hz=1000,batching=commit-time-capped,max_batch_time=9").batching())
        .isEqualTo(new Batching(Batching.Rule.COMMIT_TIME_CAPPED, 1000, 0, 9));
    assertThat(MountOptions.parse("min_batch_time=7,batching=none").batching())
        .isEqualTo(new Batching(Batching.Rule.NONE, 250, 7, 15_000));
    for (Batching.Rule rule : Batching.Rule.values()) {
      String name = rule.name().toLowerCase(Locale.ROOT).replace('_', '-');
      assertThat(MountOptions.parse("batching=" + name).batching().rule()).isEqualTo(rule);
    }
  }

  @Test
  void aLaterOptionOverrides() {
    MountOptions options =
        MountOptions.parse("ro,rw,barrier=0,barrier,errors=panic,errors=continue");
    assertThat(options.readOnly()).isFalse();
    assertThat(options.barrier()).isTrue();
    assertThat(options.errors()).isEqualTo(ErrorPolicy.CONTINUE);
  }

  @Test
  void mapsHoldValuesOfAnyType() {
    MountOptions options =
        MountOptions.fromMap(
            Map.of(
                "ro",
                true,
                "barrier",
                false,
                "commit",
                7,
                "data",
                DataMode.WRITEBACK,
                "cache",
                4096));
    assertThat(options.readOnly()).isTrue();
    assertThat(options.barrier()).isFalse();
    assertThat(options.commitIntervalSeconds()).isEqualTo(7);
    assertThat(options.data()).isEqualTo(DataMode.WRITEBACK);
    assertThat(options.cacheBytes()).isEqualTo(4096);
  }

  @Test
  void theListInAMapIsOverriddenByItsOtherKeys() {
    Map<String, Object> map = Map.of("options", "ro,commit=9,noatime", "ro", "false", "commit", 3);
    MountOptions options = MountOptions.fromMap(map);
    assertThat(options.readOnly()).isFalse();
    assertThat(options.commitIntervalSeconds()).isEqualTo(3);
    assertThat(options.accessTime()).isEqualTo(AccessTime.NOATIME);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "queue=elevator",
        "batching=sometimes",
        "batching",
        "hz=0",
        "min_batch_time=-1",
        "max_batch_time=5000001",
        "nonsense",
        "data=fast",
        "commit=soon",
        "commit=-1",
        "commit",
        "ro=1",
        "barrier=2",
        "cache=1X",
        "cache=",
        "cache=99999999999T",
        "errors="
      })
  void wrongOptionsAreNamed(String option) {
    String name = option.replaceAll("=.*", "");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> MountOptions.parse("noatime," + option))
        .withMessageContaining(name);
  }

  @Test
  void wrongOptionsInMapsAreNamed() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> MountOptions.fromMap(Map.of("queue", "elevator")))
        .withMessageContaining("queue");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> MountOptions.fromMap(Map.of("nonsense", false)))
        .withMessageContaining("nonsense");
  }
}
