package dev.extant.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.testkit.Oracles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The commands that give space to files and take it: fallocate and trim; and cp where there is
/// none.
class SpaceCommandsTest {
  private static final int BLOCK = 4096;

  @TempDir Path host;

  private Path image;
  private Cli cli;

  @BeforeEach
  void make() throws IOException {
    image = host.resolve("data.img");
    cli = ImageFixture.make(image, 32L << 20);
  }

  private String at(String path) {
    return image + ":" + path;
  }

  private Path hostFile(int bytes) throws IOException {
    byte[] content = new byte[bytes];
    new Random(bytes).nextBytes(content);
    return Files.write(host.resolve("file" + bytes), content);
  }

  private byte[] content(String path) {
    return cli.run("cat", at(path)).ok().out();
  }

  @Test
  void fallocateMakesFiles() throws IOException {
    cli.run("fallocate", "-l", "100K", at("/new")).ok();
    assertThat(content("/new")).hasSize(100 << 10).containsOnly(0);
    cli.run("fallocate", "--keep-size", "--length", "1M", at("/kept")).ok();
    assertThat(content("/kept")).isEmpty();
    assertThat(cli.run("stat", "--json", at("/kept")).ok().text()).contains("1048576");
    ImageFixture.check(image);
  }

  @Test
  void fallocateChangesRanges() throws IOException {
    byte[] expected = Files.readAllBytes(hostFile(20 * BLOCK));
    cli.run("cp", host.resolve("file" + 20 * BLOCK), at("/f")).ok();

    cli.run("fallocate", "-p", "-o", 2 * BLOCK, "-l", "8K", at("/f")).ok();
    Arrays.fill(expected, 2 * BLOCK, 4 * BLOCK, (byte) 0);
    cli.run("fallocate", "-z", "-o", "20000", "-l", "5000", at("/f")).ok();
    Arrays.fill(expected, 20_000, 25_000, (byte) 0);
    assertThat(content("/f")).isEqualTo(expected);

    cli.run("fallocate", "-c", "-o", 10 * BLOCK, "-l", 3 * BLOCK, at("/f")).ok();
    byte[] shorter = Arrays.copyOf(expected, 17 * BLOCK);
    System.arraycopy(expected, 13 * BLOCK, shorter, 10 * BLOCK, 7 * BLOCK);
    assertThat(content("/f")).isEqualTo(shorter);

    cli.run("fallocate", "-i", "-o", 10 * BLOCK, "-l", 3 * BLOCK, at("/f")).ok();
    Arrays.fill(expected, 10 * BLOCK, 13 * BLOCK, (byte) 0);
    assertThat(content("/f")).isEqualTo(expected);

    cli.run("fallocate", "-z", "-n", "-o", 19 * BLOCK, "-l", 3 * BLOCK, at("/f")).ok();
    Arrays.fill(expected, 19 * BLOCK, 20 * BLOCK, (byte) 0);
    assertThat(content("/f")).isEqualTo(expected);
    ImageFixture.check(image);
  }

  @Test
  void fallocateSaysWhatIsWrong() throws IOException {
    cli.run("cp", hostFile(10 * BLOCK), at("/f")).ok();
    cli.run("fallocate", at("/f")).misused("length");
    cli.run("fallocate", "-l", 0, at("/f")).misused("length is 0");
    cli.run("fallocate", "-l", "x", at("/f")).misused("not a size");
    cli.run("fallocate", "-p", "-z", "-l", 1, at("/f")).misused("only one");
    cli.run("fallocate", "-n", "-c", "-l", BLOCK, at("/f")).misused("-n");
    cli.run("fallocate", "-l", 1, host.resolve("f")).misused("IMAGE:/path");
    cli.run("fallocate", "-c", "-l", 100, at("/f")).failed("/f", "multiples of 1024");
    cli.run("fallocate", "-p", "-l", BLOCK, at("/none")).failed("/none", "no such file");
    cli.run("fallocate", "-l", BLOCK, at("/")).failed("directory");
    cli.run("fallocate", "-l", "1G", at("/f")).failed("/f", "no space");
    cli.run("fallocate", "-l", "100T", at("/f")).failed("/f");
    ImageFixture.check(image);
  }

  @Test
  void trimGivesTheSpaceOfFreeBlocksBack() throws IOException {
    Oracles.require("fallocate", "stat");
    cli.run("cp", hostFile(1 << 20), at("/kept")).ok();
    cli.run("cp", hostFile(16 << 20), at("/gone")).ok();
    cli.run("rm", at("/gone")).ok();
    long before = allocatedBytes();
    assertThat(cli.run("trim", image).ok().text()).contains("trimmed");
    assertThat(allocatedBytes()).isLessThan(before - (15 << 20));
    assertThat(content("/kept")).isEqualTo(Files.readAllBytes(host.resolve("file" + (1 << 20))));
    assertThat(cli.run("trim", "-q", "-m", "1G", image).ok().text()).isEmpty();
    ImageFixture.check(image);
  }

  @Test
  void trimSaysWhatIsWrong() {
    cli.run("trim").misused("IMAGE");
    cli.run("trim", host.resolve("none")).failed("none", "no such image");
    cli.run("trim", "-m", "much", image).misused("not a size");
  }

  private long allocatedBytes() throws IOException {
    String blocks = Oracles.run("stat", "-c", "%b", image).expect(0).output();
    return Long.parseLong(blocks.strip()) * 512;
  }

  @Test
  void cpToAFullImageLeavesNoHalfFile() throws IOException {
    cli.run("mkdir", at("/dir")).ok();
    String before = cli.run("df", "--json", image).ok().text();
    cli.run("cp", hostFile(40 << 20), at("/dir/much")).failed("/dir/much", "no space");
    assertThat(cli.run("ls", at("/dir")).ok().text()).isEmpty();
    assertThat(cli.run("df", "--json", image).ok().text()).isEqualTo(before);
    ImageFixture.check(image);

    Path tree = Files.createDirectory(host.resolve("tree"));
    byte[] content = Files.readAllBytes(hostFile(3 << 20));
    for (int i = 0; i < 16; i++) {
      Files.write(tree.resolve("f" + i), content);
    }
    cli.run("cp", "-r", tree, at("/dir")).failed("no space");
    String[] copied = cli.run("ls", at("/dir/tree")).ok().text().strip().split("\\s+");
    assertThat(copied).isNotEmpty().hasSizeLessThan(16);
    for (String name : copied) {
      assertThat(content("/dir/tree/" + name)).isEqualTo(content);
    }
    ImageFixture.check(image);
    cli.run("rm", "-r", at("/dir/tree")).ok();
    assertThat(cli.run("df", "--json", image).ok().text()).isEqualTo(before);
  }
}
