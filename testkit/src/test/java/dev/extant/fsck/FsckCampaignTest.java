package dev.extant.fsck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.testkit.FsckCampaign;
import dev.extant.testkit.MemoryTempDir;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.Seeds;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Our check against e2fsck on damaged images: `-Dextant.fsck.images=1000` for a long run,
/// `-Dextant.fsck.first=N` to begin with image N.
class FsckCampaignTest {
  @TempDir(factory = MemoryTempDir.class)
  Path folder;

  @Test
  void findsWhatE2fsckFinds() throws IOException {
    Oracles.require("mke2fs", "e2fsck", "debugfs", "timeout");
    int images = Integer.getInteger("extant.fsck.images", 60);
    int first = Integer.getInteger("extant.fsck.first", 0);
    FsckCampaign campaign = new FsckCampaign(folder, Seeds.fixed(2));
    campaign.run(first, first + images);
    System.out.println(campaign.table());
    assertThat(campaign.missed()).isEmpty();
    assertThat(campaign.extra()).allMatch(FsckCampaignTest::documented);
  }

  /// Whether docs/fsck.md says why we call that an error and e2fsck does not.
  private static boolean documented(FsckCampaign.Difference difference) {
    FsckReport ours = difference.ours();
    if (ours.notChecked() != null) {
      return ours.notChecked().contains("s_desc_size");
    }
    return ours.findings().stream()
        .filter(finding -> !finding.problem().warning())
        .allMatch(
            finding ->
                finding.problem() == Problem.JOURNAL_ERROR
                    || finding.ino() == ReservedInodes.BAD_BLOCKS_INO);
  }
}
