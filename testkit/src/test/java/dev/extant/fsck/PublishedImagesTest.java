package dev.extant.fsck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.block.FileDevice;
import dev.extant.testkit.MemoryTempDir;
import dev.extant.testkit.PublishedImages;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Our check of the test images of e2fsprogs against e2fsck -fn: an error where that finds one, and
/// none where it passes. The large ones with long journals only with `-Dextant.images.all=true`.
class PublishedImagesTest {
  /// e2fsck goes on with a backup of an impossible superblock and exits with 0; to us that is an
  /// error, since nobody can mount it.
  private static final Set<String> DIFFERENT = Set.of("f_zero_inode_size");

  @TempDir(factory = MemoryTempDir.class)
  Path folder;

  @Test
  void findsErrorsWhereE2fsckDoes() throws IOException {
    PublishedImages images = PublishedImages.require();
    boolean all = Boolean.getBoolean("extant.images.all");
    List<String> differences = new ArrayList<>();
    int checked = 0;
    for (PublishedImages.Entry entry : images.entries()) {
      if (!all && entry.name().startsWith("j_") && entry.name().contains("_trans")) {
        continue;
      }
      Path image = folder.resolve(entry.name());
      images.unpack(entry.name(), image);
      FsckReport report = check(image);
      if ((entry.clean() != report.clean()) != DIFFERENT.contains(entry.name())) {
        differences.add(
            entry.name()
                + ": e2fsck "
                + entry.exitCode()
                + ", ours "
                + report.exitCode()
                + " "
                + report.findings().stream().limit(3).toList());
      }
      checked++;
      Files.delete(image);
    }
    assertThat(checked).isGreaterThan(all ? 170 : 150);
    assertThat(differences).isEmpty();
  }

  private static FsckReport check(Path image) throws IOException {
    try (FileDevice device = FileDevice.open(image, true)) {
      return Fsck.check(device, FsckOptions.defaults(), FsckProgress.NONE);
    }
  }
}
