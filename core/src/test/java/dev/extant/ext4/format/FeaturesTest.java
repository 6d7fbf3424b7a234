package dev.extant.ext4.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import org.junit.jupiter.api.Test;

final class FeaturesTest {
  private static final Features USUAL =
      Features.of(Feature.HAS_JOURNAL, Feature.EXTENT, Feature.BIT64, Feature.METADATA_CSUM);

  @Test
  void usualFeaturesAreReadAndWritten() throws FsException {
    USUAL.requireReadable("fs.img");
    assertThat(USUAL.readOnlyReason()).isNull();
    assertThat(USUAL.names()).containsExactly("has_journal", "extent", "64bit", "metadata_csum");
  }

  @Test
  void anUnknownIncompatibleFeatureIsRefusedByName() {
    Features odd =
        new Features(USUAL.compat(), USUAL.incompat() | 1 << 25, USUAL.roCompat())
            .with(Feature.DIRDATA);
    assertThatThrownBy(() -> odd.requireReadable("fs.img"))
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP))
        .hasMessage(
            "fs.img: the file system uses the features dirdata, FEATURE_I25 (0x2000000 in"
                + " s_feature_incompat), which is not supported");
  }

  @Test
  void anUnknownReadOnlyCompatibleFeatureAllowsReading() throws FsException {
    Features odd = new Features(USUAL.compat(), USUAL.incompat(), USUAL.roCompat() | 1 << 20);
    odd.requireReadable("fs.img");
    assertThat(odd.readOnlyReason()).contains("FEATURE_R20");
    assertThat(USUAL.with(Feature.QUOTA).readOnlyReason()).contains("the feature quota");
  }

  @Test
  void anUnknownCompatibleFeatureChangesNothing() throws FsException {
    Features odd = new Features(1 << 30, USUAL.incompat(), USUAL.roCompat());
    odd.requireReadable("fs.img");
    assertThat(odd.readOnlyReason()).isNull();
    assertThat(odd.names()).contains("FEATURE_C30");
  }

  @Test
  void featuresComeAndGo() {
    Features more = USUAL.with(Feature.SPARSE_SUPER).with(Feature.ORPHAN_FILE);
    assertThat(more.has(Feature.SPARSE_SUPER)).isTrue();
    assertThat(more.without(Feature.SPARSE_SUPER).without(Feature.ORPHAN_FILE)).isEqualTo(USUAL);
  }

  @Test
  void everySpellingLeadsBack() {
    for (Feature feature : Feature.values()) {
      assertThat(Feature.ofSpelling(feature.spelling())).isEqualTo(feature);
    }
    assertThat(Feature.ofSpelling("gdt_csum")).isEqualTo(Feature.UNINIT_BG);
    assertThat(Feature.ofSpelling("nonsense")).isNull();
  }
}
