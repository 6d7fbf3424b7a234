package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.ext4.MountReport;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.TreeMap;

/// Recovers copies of one image with a dirty journal by us, by e2fsck and by the kernel.
final class Recoveries {
  /// The tree that they all gave, and what our mount found.
  record Outcome(Map<String, String> tree, MountReport report) {}

  private Recoveries() {}

  /// @throws AssertionError if they do not agree or e2fsck finds something wrong in what we made
  static Outcome compare(Path dirty) throws IOException {
    Oracles.require("e2fsck");
    Oracles.requireRoot();
    Path copy = dirty.resolveSibling("recovered.img");
    Files.copy(dirty, copy, StandardCopyOption.REPLACE_EXISTING);
    Map<String, String> ours;
    MountReport report;
    try (Extant mount = Extant.open(copy, MountOptions.parse("noatime"))) {
      report = mount.mountReport();
      ours = tree(mount);
    }
    Oracles.run("e2fsck", "-fn", copy).expect(0);
    assertThat(report.recovery()).isNotNull();
    assertThat(report.recovery().damage()).isNull();
    // The kernel sets the times of files whose truncation it finishes; others do not.
    boolean exact = report.orphansFinished() == 0;
    require("ours, unlike a read-only mount", ours, readOnly(dirty), exact);
    Files.copy(dirty, copy, StandardCopyOption.REPLACE_EXISTING);
    Oracles.run("e2fsck", "-fy", copy).expect(0, 1);
    require("e2fsck", readOnly(copy), ours, exact);
    Files.copy(dirty, copy, StandardCopyOption.REPLACE_EXISTING);
    try (KernelMount kernel = KernelMount.of(copy, "noatime")) {
      Map<String, String> theirs = TreeDescription.of(kernel.root(), TreeDescription.Times.EXACT);
      require("the kernel", theirs, ours, exact);
    }
    return new Outcome(ours, report);
  }

  private static void require(
      String who, Map<String, String> expected, Map<String, String> found, boolean exact) {
    try {
      if (exact) {
        TreeDescription.requireSame(expected, found);
      } else {
        TreeDescription.requireSame(withoutTimes(expected), withoutTimes(found));
      }
    } catch (AssertionError e) {
      throw new AssertionError("expected is what gives " + who + ": " + e.getMessage(), e);
    }
  }

  private static Map<String, String> withoutTimes(Map<String, String> tree) {
    Map<String, String> result = new TreeMap<>(tree);
    result.replaceAll((path, line) -> line.replaceAll(" [mc]time \\S+", ""));
    return result;
  }

  private static Map<String, String> tree(Extant mount) throws IOException {
    return TreeDescription.of(mount.fileSystem().getPath("/"), TreeDescription.Times.EXACT);
  }

  private static Map<String, String> readOnly(Path image) throws IOException {
    try (Extant mount = Extant.open(image, MountOptions.parse("ro"))) {
      return tree(mount);
    }
  }
}
