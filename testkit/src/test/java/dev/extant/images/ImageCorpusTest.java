package dev.extant.images;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.extant.Extant;
import dev.extant.testkit.ImageWalk;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.MemoryTempDir;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.PublishedImages;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The damaged, dirty and odd images of e2fsprogs' own tests, opened, walked and read. The reasons
/// for the differences listed here are in `docs/hostile.md`. The large ones with long journals, and
/// all of the names in the largest directories, only with `-Dextant.images.all=true`.
class ImageCorpusTest {
  /// e2fsck -fn exits with 0 on these, but they cannot be read, or not wholly; and why.
  private static final Map<String, String> REFUSED =
      Map.of(
          "f_extent_too_deep", "inode 12: extent tree root: depth 7 is more than 5",
          "f_first_meta_bg_too_big", "s_first_meta_bg is 2",
          "f_zero_inode_size", "s_inode_size is 0",
          "j_long_trans", "inode 2 is corrupt: it is not in use",
          "j_long_trans_mcsum_32bit", "inode 2 is corrupt: its checksum is wrong",
          "j_long_trans_mcsum_64bit", "inode 2 is corrupt: its checksum is wrong");

  /// The kernel of a machine with pages of 4 KiB does not mount them; we do.
  private static final Set<String> NOT_BY_LINUX =
      Set.of("f_16384_block", "f_8192_block", "f_sb_extra_isize");

  /// A read-only mount shows it as it was before its fast commits, with a warning.
  private static final String FAST_COMMITS = "j_recover_fast_commit";

  /// A writable mount leaves these to e2fsck, since something durable in the log is lost, or not
  /// understood; a read-only one shows the rest.
  private static final Set<String> NOT_RECOVERED =
      Set.of("j_corrupt_descr_csum", "j_corrupt_revoke_rcount", FAST_COMMITS);

  private static final boolean ALL = Boolean.getBoolean("extant.images.all");
  private static final ImageWalk.Limits LIMITS =
      new ImageWalk.Limits(ALL ? 1 << 20 : 10_000, 1L << 30);
  private static final int MAX_FILES = ALL ? 1 << 20 : 1000;
  private static final int MAX_DEPTH = 100;

  @TempDir(factory = MemoryTempDir.class)
  Path folder;

  private PublishedImages images;

  @BeforeEach
  void find() {
    images = PublishedImages.require();
  }

  private List<PublishedImages.Entry> entries() throws IOException {
    List<PublishedImages.Entry> entries = new ArrayList<>(images.entries());
    assertThat(entries).hasSizeGreaterThanOrEqualTo(172);
    entries.removeIf(
        entry -> !ALL && entry.name().startsWith("j_") && entry.name().contains("_trans"));
    return entries;
  }

  @Test
  void everyImageIsReadOrRefused() throws IOException {
    Map<String, String> refused = new TreeMap<>();
    Map<String, String> expected = new TreeMap<>();
    for (PublishedImages.Entry entry : entries()) {
      Path image = folder.resolve(entry.name());
      images.unpack(entry.name(), image);
      String noload = assertTimeoutPreemptively(ofSeconds(60), () -> read(image, "noload"));
      String replayed = assertTimeoutPreemptively(ofSeconds(60), () -> read(image, "ro"));
      if (entry.clean() && noload != null && !REFUSED.containsKey(entry.name())) {
        refused.put(entry.name(), noload);
      }
      if (entry.clean() && replayed != null) {
        refused.put(entry.name(), replayed);
      }
      if (REFUSED.containsKey(entry.name())) {
        expected.put(entry.name(), REFUSED.get(entry.name()));
      }
      Files.delete(image);
    }
    assertThat(refused.keySet()).isEqualTo(expected.keySet());
    expected.forEach((name, reason) -> assertThat(refused.get(name)).contains(reason));
  }

  /// The first refusal, or null.
  private static String read(Path image, String options) throws IOException {
    ImageWalk walk;
    try (Extant mount = Extant.open(image, MountOptions.parse(options))) {
      walk = ImageWalk.of(mount.volume(), LIMITS);
      readWithNio(mount.fileSystem().getPath("/"));
    } catch (FsException e) {
      assertThat(e).hasMessageNotContainingAny("null", "Exception", "\n");
      return e.getMessage();
    }
    assertThat(walk.refusals()).extracting(Throwable::getMessage).doesNotContainNull();
    return walk.refusals().isEmpty() ? null : walk.refusals().getFirst().getMessage();
  }

  /// Everything that is not an [IOException] reaches the caller.
  private static void readWithNio(Path root) throws IOException {
    Files.walkFileTree(
        root,
        Set.of(),
        MAX_DEPTH,
        new SimpleFileVisitor<>() {
          private int files;

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            try {
              readFile(file, attributes);
            } catch (IOException refused) {
              assertThat(refused).hasMessageNotContaining("Exception");
            }
            return ++files < MAX_FILES ? FileVisitResult.CONTINUE : FileVisitResult.TERMINATE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException refused) {
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path directory, IOException refused) {
            return FileVisitResult.CONTINUE;
          }
        });
  }

  private static void readFile(Path file, BasicFileAttributes attributes) throws IOException {
    Files.readAttributes(file, "unix:*", LinkOption.NOFOLLOW_LINKS);
    if (attributes.isSymbolicLink()) {
      Files.readSymbolicLink(file);
    } else if (attributes.isRegularFile() && attributes.size() < LIMITS.bytes()) {
      Files.readAttributes(file, "user:*");
      try (InputStream in = Files.newInputStream(file)) {
        in.transferTo(OutputStream.nullOutputStream());
      }
    }
  }

  @Test
  void whatLinuxMountsLooksTheSame() throws IOException {
    Oracles.requireRoot();
    int compared = 0;
    for (PublishedImages.Entry entry : entries()) {
      if (!entry.clean()
          || REFUSED.containsKey(entry.name())
          || NOT_BY_LINUX.contains(entry.name())) {
        continue;
      }
      Path image = folder.resolve(entry.name());
      images.unpack(entry.name(), image);
      Map<String, String> ours = tree(image, "noload");
      try (KernelMount kernel = KernelMount.of(image, "ro,noload")) {
        requireSame(
            entry.name(), TreeDescription.of(kernel.root(), TreeDescription.Times.EXACT), ours);
      }
      compared++;
      Files.delete(image);
    }
    assertThat(compared).isGreaterThan(30);
  }

  private static void requireSame(
      String name, Map<String, String> expected, Map<String, String> found) {
    try {
      TreeDescription.requireSame(expected, found);
    } catch (AssertionError e) {
      throw new AssertionError(name + ": " + e.getMessage(), e);
    }
  }

  private static Map<String, String> tree(Path image, String options) throws IOException {
    try (Extant mount = Extant.open(image, MountOptions.parse(options))) {
      return TreeDescription.of(mount.fileSystem().getPath("/"), TreeDescription.Times.EXACT);
    }
  }

  /// Both our recovery and the one in memory of a read-only mount. What we refuse to write to,
  /// e2fsck must find as it was.
  @Test
  void whatWeRecoverE2fsckRecovers() throws IOException {
    Oracles.require("e2fsck");
    Set<String> refused = new TreeSet<>();
    int compared = 0;
    for (PublishedImages.Entry entry : entries()) {
      if (!entry.name().startsWith("j_")) {
        continue;
      }
      Path ours = folder.resolve("ours");
      images.unpack(entry.name(), ours);
      Path theirs = folder.resolve("theirs");
      images.unpack(entry.name(), theirs);
      if (Oracles.run("e2fsck", "-fy", theirs).exitCode() < 8) {
        Map<String, String> expected = tree(theirs, "ro");
        if (!REFUSED.containsKey(entry.name()) && !FAST_COMMITS.equals(entry.name())) {
          requireSame(entry.name() + " in memory", expected, tree(ours, "ro"));
        }
        if (!recover(ours)) {
          refused.add(entry.name());
        }
        Oracles.run("e2fsck", "-fy", ours).expect(0, 1);
        requireSame(entry.name(), expected, tree(ours, "ro"));
        compared++;
      } else {
        assertThat(recover(ours)).as(entry.name()).isFalse();
      }
      Files.delete(ours);
      Files.delete(theirs);
    }
    assertThat(compared).isGreaterThanOrEqualTo(7);
    REFUSED.keySet().forEach(refused::remove);
    assertThat(refused).isEqualTo(NOT_RECOVERED);
  }

  private static boolean recover(Path image) {
    try {
      Extant.open(image, MountOptions.defaults()).close();
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
