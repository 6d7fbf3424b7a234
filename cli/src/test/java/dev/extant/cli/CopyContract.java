package dev.extant.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.testkit.Oracles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What `cp` does between the host and whatever stands for an image.
abstract class CopyContract {
  private static final long SEED = 20261201;

  @TempDir Path host;

  Cli cli;
  Path image;

  /// Makes an empty file system at the path with room for about 90 MiB.
  abstract Cli make(Path image) throws IOException;

  /// What must hold after each test.
  abstract void checkImage() throws IOException;

  @BeforeEach
  void makeImage() throws IOException {
    image = host.resolve("data.img");
    cli = make(image);
  }

  @AfterEach
  void check() throws IOException {
    checkImage();
  }

  private String in(String path) {
    return image + ":" + path;
  }

  private Path file(String name, String content) throws IOException {
    return Files.writeString(host.resolve(name), content);
  }

  private String cat(String path) {
    return cli.run("cat", in(path)).ok().text();
  }

  @Test
  void aTreeComesBackAsItWent() throws IOException {
    Path tree = host.resolve("tree");
    new HostTree(SEED).make(tree, 400);
    cli.run("cp", "-r", tree, in("/")).ok();
    cli.run("cp", "-r", in("/tree"), in("/again")).ok();
    Path back = host.resolve("back");
    cli.run("cp", "-a", in("/again"), back).ok();
    assertThat(HostTree.differences(tree, back)).as("seed %d", SEED).isEmpty();
    // Once more over what is there.
    cli.run("cp", "-rT", tree, in("/again")).ok();
    cli.run("cp", "-rT", in("/again"), back).ok();
    assertThat(HostTree.differences(tree, back)).as("seed %d", SEED).isEmpty();
  }

  @Test
  void holesStayHoles() throws IOException {
    Path sparse = host.resolve("sparse");
    try (FileChannel channel =
        FileChannel.open(sparse, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap("begin".getBytes()), 0);
      channel.write(ByteBuffer.wrap("middle".getBytes()), 1L << 27);
      channel.write(ByteBuffer.allocate(1), (3L << 28) - 1);
    }
    cli.run("cp", sparse, in("/sparse")).ok();
    String json = cli.run("stat", "--json", in("/sparse")).ok().text();
    assertThat(json).contains("\"sizeBytes\": " + (3L << 28));
    long allocated = Long.parseLong(json.replaceAll("(?s).*\"allocatedBytes\": (\\d+).*", "$1"));
    assertThat(allocated).isLessThan(64 << 10);
    Path back = host.resolve("back");
    cli.run("cp", in("/sparse"), back).ok();
    assertThat(Files.size(back)).isEqualTo(3L << 28);
    try (FileChannel channel = FileChannel.open(back)) {
      ByteBuffer bytes = ByteBuffer.allocate(6);
      channel.read(bytes, 1L << 27);
      assertThat(new String(bytes.array())).isEqualTo("middle");
    }
  }

  @Test
  void namesOfAnyBytesAreKept() throws IOException {
    Oracles.require("sh");
    Path tree = Files.createDirectory(host.resolve("odd"));
    Oracles.run(
            "sh",
            "-c",
            "cd \"$0\" && printf 1 >\"$(printf 'a\\377b')\" && ln -s \"$(printf"
                + " '\\303\\050/\\376')\" link",
            tree)
        .expect(0);
    cli.run("cp", "-r", tree, in("/")).ok();
    cli.run("cp", "-r", in("/odd"), host.resolve("back")).ok();
    String shown =
        Oracles.run(
                "sh",
                "-c",
                "cd \"$0\" && for f in *; do printf %s \"$f\"; done | od -An -tx1; readlink link |"
                    + " od -An -tx1",
                host.resolve("back"))
            .expect(0)
            .output();
    assertThat(shown).contains("61 ff 62").contains("c3 28 2f fe");
  }

  @Test
  void specialFilesGoIntoImagesAndAreSkippedOnTheHost() throws IOException {
    Oracles.require("mkfifo");
    Path tree = Files.createDirectory(host.resolve("tree"));
    Oracles.run("mkfifo", tree.resolve("pipe")).expect(0);
    file("tree/file", "x");
    cli.run("cp", "-r", tree, in("/")).ok();
    assertThat(cli.run("ls", "-l", in("/tree")).ok().text()).containsPattern("prw.* pipe\n");
    cli.run("cp", "-r", in("/tree"), host.resolve("back")).failed("pipe", "skipped", "fifo");
    assertThat(host.resolve("back/file")).hasContent("x");
  }

  @Test
  void oneFileGoesWhereItIsTold() throws IOException {
    Path file = file("a", "one");
    cli.run("mkdir", in("/d")).ok();
    cli.run("cp", file, in("/b")).ok();
    cli.run("cp", file, in("/d")).ok();
    cli.run("cp", in("/b"), in("/d/a"), host.resolve("none")).failed("none");
    cli.run("cp", in("/b"), in("/d/c")).ok();
    assertThat(cat("/b") + cat("/d/a") + cat("/d/c")).isEqualTo("oneoneone");
    file("a", "longer than before");
    cli.run("cp", "-n", file, in("/b")).ok();
    assertThat(cat("/b")).isEqualTo("one");
    cli.run("cp", file, in("/b")).ok();
    assertThat(cat("/b")).isEqualTo("longer than before");
    file("a", "short");
    cli.run("cp", file, in("/b")).ok();
    assertThat(cat("/b")).isEqualTo("short");
    cli.run("cp", in("/b"), in("/b")).failed("the same file");
    assertThat(cat("/b")).isEqualTo("short");
  }

  @Test
  void aSymbolicLinkIsFollowedUnlessATreeIsCopied() throws IOException {
    file("a", "content");
    Path link = Files.createSymbolicLink(host.resolve("link"), Path.of("a"));
    cli.run("cp", link, in("/file")).ok();
    assertThat(cat("/file")).isEqualTo("content");
    cli.run("cp", "-r", link, in("/link")).ok();
    assertThat(cli.run("ls", "-l", in("/link")).ok().text()).endsWith("-> a\n");
  }

  @Test
  void refusesWhatMakesNoSense() throws IOException {
    Path tree = Files.createDirectory(host.resolve("tree"));
    file("tree/file", "x");
    cli.run("cp", tree, in("/")).failed("is a directory", "-r");
    cli.run("cp", host.resolve("none"), in("/")).failed("none", "no such file");
    cli.run("cp", tree.resolve("file"), in("/none/x")).failed(in("/none/x"), "no such file");
    cli.run("cp", "-r", tree, in("/t")).ok();
    cli.run("cp", "-r", in("/t"), in("/t/u")).failed("into itself");
    cli.run("cp", in("/t/file"), in("/t2")).ok();
    cli.run("cp", "-rT", tree, in("/t2")).failed("is not a directory");
    cli.run("cp", "x").misused("PATH");
  }

  @Test
  void contentsGoIntoTheRoot() throws IOException {
    Path tree = Files.createDirectory(host.resolve("tree"));
    file("tree/file", "x");
    cli.run("cp", "-r", tree + "/.", in("/")).ok();
    assertThat(cat("/file")).isEqualTo("x");
    cli.run("cp", "-rT", tree, in("/")).ok();
    Path back = Files.createDirectory(host.resolve("back"));
    cli.run("cp", "-r", in("/"), back).ok();
    assertThat(back.resolve("file")).hasContent("x");
  }

  @Test
  void aFullImageKeepsNoHalfFile() throws IOException {
    byte[] bytes = new byte[100 << 20];
    new Random(1).nextBytes(bytes);
    Path large = Files.write(host.resolve("large"), bytes);
    cli.run("cp", large, in("/large")).failed(in("/large"), "no space left");
    assertThat(cli.run("ls", in("/")).ok().text().replace("lost+found\n", "")).isEmpty();
    cli.run("cp", file("small", "x"), in("/small")).ok();
  }
}
