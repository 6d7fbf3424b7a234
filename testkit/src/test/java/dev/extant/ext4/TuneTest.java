package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.TreeSnapshot;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.TuneOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TuneTest {
  private static final UUID OTHER = UUID.fromString("11111111-2222-3333-4444-555555555555");

  @TempDir Path directory;
  private Path image;

  @BeforeEach
  void tools() {
    Oracles.require("mke2fs", "e2fsck", "dumpe2fs");
    image = directory.resolve("tuned.img");
  }

  private void make(String... options) throws IOException {
    Object[] arguments = new Object[options.length + 3];
    System.arraycopy(options, 0, arguments, 0, options.length);
    arguments[options.length] = "-q";
    arguments[options.length + 1] = image;
    arguments[options.length + 2] = "64M";
    Oracles.run("mke2fs", arguments).expect(0);
  }

  private void fill() throws IOException {
    try (Extant mounted = Extant.open(image, MountOptions.defaults())) {
      Path root = mounted.fileSystem().getPath("/");
      for (int i = 0; i < 300; i++) {
        Path parent = Files.createDirectories(root.resolve("d" + i % 7));
        Files.writeString(parent.resolve("file" + i), "content " + i);
      }
    }
  }

  private TreeSnapshot tree() throws IOException {
    try (Extant mounted = Extant.open(image, MountOptions.defaults().withReadOnly(true))) {
      return TreeSnapshot.of(mounted.volume());
    }
  }

  private String dump() throws IOException {
    return Oracles.run("dumpe2fs", "-h", image).expect(0).output();
  }

  private void clean() throws IOException {
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  private static String line(String dump, String name) {
    return dump.lines()
        .filter(line -> line.startsWith(name + ":"))
        .map(line -> line.substring(name.length() + 1).strip())
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + name + " in " + dump));
  }

  @Test
  void changesEveryFieldItWasGivenAndNoOther() throws IOException {
    make("-t", "ext4");
    String before = dump();
    Extant.tune(
        image,
        TuneOptions.builder()
            .label("new name")
            .reservedPercent(1)
            .mountCount(7)
            .maxMountCount(30)
            .checkIntervalSeconds(86_400)
            .onError(TuneOptions.OnError.REMOUNT_RO)
            .build());
    String after = dump();
    assertThat(line(after, "Filesystem volume name")).isEqualTo("new name");
    assertThat(line(after, "Reserved block count"))
        .isEqualTo(Long.toString(Long.parseLong(line(after, "Block count")) / 100));
    assertThat(line(after, "Mount count")).isEqualTo("7");
    assertThat(line(after, "Maximum mount count")).isEqualTo("30");
    assertThat(line(after, "Check interval")).startsWith("86400 ");
    assertThat(line(after, "Errors behavior")).isEqualTo("Remount read-only");
    for (String same :
        new String[] {
          "Filesystem UUID", "Filesystem features", "Free blocks", "Last mount time", "Block count"
        }) {
      assertThat(line(after, same)).as(same).isEqualTo(line(before, same));
    }
    clean();
  }

  @ParameterizedTest
  @ValueSource(strings = {"metadata_csum", "^metadata_csum,uninit_bg", "^metadata_csum,^uninit_bg"})
  void anotherUuidLeavesEveryChecksumRight(String features) throws IOException {
    make("-t", "ext4", "-b", "1024", "-O", features);
    fill();
    TreeSnapshot before = tree();
    Extant.tune(image, TuneOptions.builder().uuid(OTHER).build());
    assertThat(line(dump(), "Filesystem UUID")).isEqualTo(OTHER.toString());
    clean();
    assertThat(tree().entries().keySet()).isEqualTo(before.entries().keySet());
    fill();
    clean();
  }

  @Test
  void backupsKnowTheNewUuid() throws IOException {
    make("-t", "ext4", "-b", "1024");
    Extant.tune(image, TuneOptions.builder().uuid(OTHER).label("both").build());
    String backup =
        Oracles.run("dumpe2fs", "-h", "-o", "superblock=8193", "-o", "blocksize=1024", image)
            .expect(0)
            .output();
    assertThat(line(backup, "Filesystem UUID")).isEqualTo(OTHER.toString());
    clean();
  }

  @ParameterizedTest
  @ValueSource(strings = {"ext2", "ext4"})
  void aJournalCanBeAdded(String type) throws IOException {
    Oracles.requireRoot();
    make("-t", type, "-O", "^has_journal");
    fill();
    TreeSnapshot before = tree();
    Extant.tune(image, TuneOptions.builder().journalMebibytes(4).build());
    String dump = dump();
    assertThat(line(dump, "Filesystem features")).contains("has_journal");
    assertThat(line(dump, "Total journal size")).isEqualTo("4096k");
    clean();
    try (KernelMount mounted = KernelMount.of(image, "data=journal")) {
      assertThat(TreeSnapshot.of(mounted.root()).entries().keySet())
          .isEqualTo(before.entries().keySet());
    }
    fill();
    clean();
    assertThatThrownBy(() -> Extant.tune(image, TuneOptions.builder().journalMebibytes(0).build()))
        .isInstanceOf(FsException.class)
        .hasMessageContaining("has a journal already");
  }

  @Test
  void nonsenseIsRefusedInASentence() throws IOException {
    make("-t", "ext4");
    byte[] before = Files.readAllBytes(image);
    for (TuneOptions options :
        new TuneOptions[] {
          TuneOptions.builder().label("seventeen letters").build(),
          TuneOptions.builder().reservedPercent(51).build(),
          TuneOptions.builder().reservedBlocks(Long.MAX_VALUE).build(),
          TuneOptions.builder().maxMountCount(-2).build(),
        }) {
      assertThatThrownBy(() -> Extant.tune(image, options))
          .isInstanceOf(FsException.class)
          .hasMessageContaining(image.toString());
    }
    assertThat(dump()).contains("<none>");
    assertThat(Files.readAllBytes(image)).hasSameSizeAs(before);
    clean();
  }
}
