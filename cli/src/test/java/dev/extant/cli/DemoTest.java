package dev.extant.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoTest {
  private final Cli cli = new Cli(new MountedImages());

  @Test
  void everyPromiseHolds(@TempDir Path host) {
    Path home = host.resolve("demo");
    String said = cli.run("demo", "--seconds", 1, "--writers", 8, "--dir", home).ok().text();
    assertThat(said)
        .containsPattern("1 s +[\\d,]+ files/s +[\\d,]+ commits/s +[\\d.]+ files per commit +p99")
        .containsPattern("killed after [1-9][\\d,]* acknowledged file")
        .containsPattern("recovered: replayed [\\d,]+ transactions")
        .contains("All promises held.")
        .contains("ls -l " + home.resolve("demo.img") + ":/", "mount -o loop");
    assertThat(said.split("all there with their bytes")).hasSize(5);
    assertThat(cli.run("ls", home.resolve("demo.img") + ":/").ok().text())
        .contains("cut\n", "killed\n", "torn\n", "undisturbed\n");
    cli.run("demo", "--dir", home).failed("demo.img", "exists");
  }

  @Test
  void refusesOddNumbers() {
    cli.run("demo", "--writers", 0).misused("--writers 0");
    cli.run("demo", "--seconds", "x").misused("--seconds");
  }

  @Test
  void aFileThatIsLostOrDamagedIsNamed(@TempDir Path host) throws Exception {
    Cli images = ImageFixture.make(host.resolve("a.img"), 16 << 20);
    images.run("mkdir", host.resolve("a.img") + ":/x").ok();
    try (dev.extant.Extant mounted =
        dev.extant.Extant.open(host.resolve("a.img"), dev.extant.vfs.MountOptions.defaults())) {
      StoredFiles files = new StoredFiles(mounted.fileSystem(), "x", 3);
      files.makeDirectories(1);
      for (int number = 0; number < 5; number++) {
        files.store(0, number);
      }
      assertThat(files.oldest(5)).isEqualTo(3);
      assertThat(files.problem(0, 1)).contains("missing");
      assertThat(files.problem(0, 4)).isNull();
      Path file = mounted.fileSystem().getPath("/x/writer-0000/file-0000004");
      byte[] bytes = Files.readAllBytes(file);
      bytes[bytes.length - 1]++;
      Files.write(file, bytes);
      assertThat(files.problem(0, 4)).contains("other bytes");
    }
  }
}
