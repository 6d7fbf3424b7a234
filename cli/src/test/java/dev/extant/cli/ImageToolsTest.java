package dev.extant.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.block.FileDevice;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.PowerCutDevice;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The commands that make, show and repair images: mkfs, info, journal, recover.
class ImageToolsTest {
  private static final String UUID = "11111111-2222-3333-4444-555555555555";

  @TempDir Path host;

  private final Cli cli = new Cli(new MountedImages());
  private Path image;

  @BeforeEach
  void nameImage() {
    image = host.resolve("data.img");
  }

  @Test
  void mkfsTakesOptions() throws IOException {
    cli.run(
            "mkfs", "-L", "label", "-b", 4096, "-I", 128, "-N", 1000, "-J", "size=4", "-m", 1, "-U",
            UUID)
        .misused("IMAGE");
    cli.run(
            "mkfs",
            "-q",
            "-L",
            "label",
            "-b",
            4096,
            "-N",
            1000,
            "-J",
            "size=4",
            "-m",
            1,
            "-U",
            UUID,
            "-O",
            "^64bit,^orphan_file",
            image,
            "64M")
        .ok();
    ImageFixture.check(image);
    String info = cli.run("info", image).ok().text();
    assertThat(info)
        .containsPattern("volume name: +label\n")
        .containsPattern("UUID: +" + UUID + "\n")
        .containsPattern("Block size: +4096\n")
        .containsPattern("Block count: +16384\n")
        .containsPattern("Filesystem state: +clean\n")
        .doesNotContain("64bit", "orphan_file");
    assertThat(Files.size(image)).isEqualTo(64 << 20);
  }

  @Test
  void infoSaysWhatDumpe2fsSays() throws IOException {
    cli.run("mkfs", "-q", image, "32M").ok();
    String theirs = Oracles.run("dumpe2fs", "-h", image).expect(0).output();
    String ours = cli.run("info", image).ok().text();
    for (String label :
        new String[] {
          "Filesystem UUID",
          "Filesystem features",
          "Inode count",
          "Block count",
          "Free blocks",
          "Free inodes",
          "Reserved GDT blocks",
          "Blocks per group",
          "Inodes per group",
          "Inode size",
          "Journal inode",
          "Default directory hash",
          "Checksum seed",
          "Orphan file inode"
        }) {
      assertThat(value(ours, label)).as(label).isNotNull().isEqualTo(value(theirs, label));
    }
    assertThat(value(ours, "Directory hash seed")).isEqualTo(value(theirs, "Directory Hash Seed"));
    assertThat(cli.run("info", "--json", image).ok().text()).contains("\"blocksCount\": 32768");
  }

  private static String value(String text, String label) {
    return text.lines()
        .filter(line -> line.startsWith(label + ":"))
        .map(line -> line.substring(label.length() + 1).strip())
        .findFirst()
        .orElse(null);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-t ext2",
        "-t ext3 -J size=4 -g 2048 -b 1024",
        "-t ext4 -O bigalloc -C 64K -G 8",
        "-t ext4 -O meta_bg,^resize_inode -b 2048 -I 512",
        "-t ext4 -E stride=16,stripe_width=64,lazy_itable_init=1,lazy_journal_init=0",
        "-t ext4 -b 1024 -E resize=1048576",
        "-t ext4 -E resize=4G -E root_owner=1000:100",
        "-t ext3 -b 8192 -i 65536 -m 0.5"
      })
  void mkfsMakesEveryKind(String options) throws IOException {
    List<Object> arguments = new ArrayList<>(List.of("mkfs"));
    arguments.addAll(List.of(options.split(" ")));
    arguments.addAll(List.of(image, "64M"));
    String said = cli.run(arguments.toArray()).ok().text();
    assertThat(said).contains(options.substring(3, 7));
    ImageFixture.check(image);
    Files.writeString(host.resolve("file"), "content");
    cli.run("cp", host.resolve("file"), image + ":/copy").ok();
    assertThat(cli.run("cat", image + ":/copy").ok().text()).isEqualTo("content");
    ImageFixture.check(image);
  }

  @Test
  void mkfsRefusesWhatItCannotMake() throws IOException {
    cli.run("mkfs", image).misused("SIZE");
    cli.run("mkfs", image, "64X").misused("64X");
    cli.run("mkfs", "-t", "xfs", image, "64M").misused("xfs", "ext4");
    cli.run("mkfs", "-J", "device=/dev/sdb", image, "64M").misused("device=/dev/sdb");
    cli.run("mkfs", "-E", "stride=x", image, "64M").misused("stride=x");
    cli.run("mkfs", "-E", "resize=32M", image, "64M").failed("grow");
    cli.run("mkfs", "-O", "quota", image, "64M").failed("quota");
    cli.run("mkfs", "-C", "64K", image, "64M").failed("bigalloc");
    assertThat(image).doesNotExist();
    cli.run("mkfs", "-E", "what=ever", image, "64M").misused("what=ever");
    cli.run("mkfs", "-O", "nonsense", image, "64M").failed("nonsense");
    cli.run("mkfs", image, "16K").failed(image.toString());
    cli.run("mkfs", "-d", host.resolve("none"), image, "64M").failed("none", "not a directory");
    assertThat(image).doesNotExist();
    cli.run("mkfs", host, "64M").failed(host.toString());
  }

  @Test
  void theSameInputGivesTheSameBytes() throws Exception {
    Path tree = host.resolve("tree");
    new HostTree(7).make(tree, 150);
    Path first = host.resolve("1.img");
    Path second = host.resolve("2.img");
    mkfsWithEpoch(tree, first);
    // The first copy has read the tree, which changes its access times.
    mkfsWithEpoch(tree, second);
    assertThat(Files.mismatch(first, second)).isEqualTo(-1);
    ImageFixture.check(first);
    assertThat(cli.run("info", first).ok().text()).contains("2001-09-09");
    Path back = host.resolve("back");
    cli.run("cp", "-r", first + ":/", back).ok();
    assertThat(HostTree.differences(tree, back)).containsOnlyKeys("lost+found");
  }

  /// In a JVM of its own, for the environment.
  private static void mkfsWithEpoch(Path tree, Path image) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            Main.class.getName(),
            "mkfs",
            "-q",
            "-U",
            UUID,
            "-E",
            "hash_seed=" + UUID,
            "-d",
            tree.toString(),
            image.toString(),
            "64M");
    builder.environment().put("SOURCE_DATE_EPOCH", "1000000000");
    assertThat(builder.inheritIO().start().waitFor()).isZero();
  }

  @Test
  void readingADirtyImageLeavesItAlone() throws IOException {
    makeDirty();
    byte[] before = Files.readAllBytes(image);
    assertThat(cli.run("ls", image + ":/d").ok().text()).startsWith("file0\n");
    assertThat(cli.run("cat", image + ":/d/file9").ok().text()).isEqualTo("content 9");
    assertThat(cli.run("info", image).ok().text()).contains("journal needs recovery");
    assertThat(cli.run("journal", "-b", image).ok().text())
        .containsPattern("transaction \\d+: log block \\d+, .*committed at 20")
        .containsPattern("  block \\d+ in log block \\d+");
    cli.run("df", image).ok();
    assertThat(Files.readAllBytes(image)).isEqualTo(before);
  }

  @Test
  void recoverReplaysTheJournal() throws IOException {
    makeDirty();
    assertThat(cli.run("recover", image).ok().text()).contains("replayed");
    assertThat(cli.run("recover", image).ok().text()).contains("the journal was clean");
    ImageFixture.check(image);
    assertThat(cli.run("cat", image + ":/d/file9").ok().text()).isEqualTo("content 9");
    assertThat(cli.run("journal", image).ok().text()).contains("0 (empty)");
  }

  /// Durable files whose metadata is in the journal alone, since the power went.
  private void makeDirty() throws IOException {
    cli.run("mkfs", "-q", image, "32M").ok();
    try (FileDevice file = FileDevice.open(image, false)) {
      PowerCutDevice disk = new PowerCutDevice(file);
      Extant mounted = Extant.open(disk, MountOptions.defaults());
      Path directory = Files.createDirectory(mounted.fileSystem().getPath("/d"));
      for (int i = 0; i < 10; i++) {
        Files.writeString(directory.resolve("file" + i), "content " + i);
      }
      mounted.volume().sync();
      disk.cutPowerAndLoseAll();
      try {
        mounted.close();
      } catch (IOException e) {
        assertThat(e).hasMessageContaining("power");
      }
    }
  }

  @Test
  void saysWhatIsWrongWithAnImage() throws IOException {
    Files.write(image, new byte[4 << 20]);
    cli.run("ls", image + ":/").failed(image.toString());
    cli.run("info", image).failed(image.toString(), "not an ext2, ext3 or ext4 file system");
    cli.run("recover", image).failed(image.toString());
    cli.run("journal", image).failed(image.toString());
    cli.run("info", host.resolve("none")).failed("no such image");
    Files.write(image, new byte[10]);
    cli.run("ls", image + ":/").failed(image.toString());
  }

  @Test
  void namesAFeatureThatItDoesNotKnow() throws IOException {
    cli.run("mkfs", "-q", image, "8M").ok();
    Oracles.run("debugfs", "-w", "-R", "feature dirdata", image).expect(0);
    cli.run("ls", image + ":/").failed("dirdata");
    assertThat(cli.run("info", image).ok().text()).contains("dirdata");
  }

  @Test
  void refusesAnImageThatIsInUse() throws IOException {
    cli.run("mkfs", "-q", image, "8M").ok();
    try (Extant mounted = Extant.open(image, MountOptions.defaults())) {
      cli.run("mkdir", image + ":/d").failed(image.toString(), "in use");
      cli.run("mkfs", image, "8M").failed(image.toString());
      assertThat(mounted.volume().readOnly()).isFalse();
    }
    cli.run("mkdir", image + ":/d").ok();
  }

  @Test
  void aDamagedSuperblockIsASentence() throws IOException {
    cli.run("mkfs", "-q", image, "2M").ok();
    try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
      file.seek(1024 + 0x20);
      file.writeInt(0x7F7F7F7F);
    }
    cli.run("ls", image + ":/").failed(image.toString());
    cli.run("info", image).failed("checksum");
  }
}
