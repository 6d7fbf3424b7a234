package dev.extant.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResizeCommandTest {
  @TempDir Path host;

  private final Cli cli = new Cli(new MountedImages());

  @Test
  void growsAndShrinks() throws IOException {
    Path image = host.resolve("data.img");
    Path file = Files.writeString(host.resolve("file"), "content");
    cli.run("mkfs", "-q", "-J", "size=4", image, "64M").ok();
    cli.run("cp", file, image + ":/file").ok();
    cli.run("resize", image, "96M").ok();
    assertThat(Files.size(image)).isEqualTo(96L << 20);
    ImageFixture.check(image);
    long minimum = Long.parseLong(cli.run("resize", "-P", image).ok().text().strip());
    assertThat(minimum).isBetween(4L << 20, 48L << 20);
    assertThat(Files.size(image)).isEqualTo(96L << 20);
    cli.run("resize", image, minimum - 4096).failed(Long.toString(minimum));
    assertThat(Files.size(image)).isEqualTo(96L << 20);
    ImageFixture.check(image);
    cli.run("resize", image, "64M").ok();
    assertThat(Files.size(image)).isEqualTo(64L << 20);
    ImageFixture.check(image);
    cli.run("resize", "-M", image).ok();
    assertThat(Files.size(image)).isBetween(4L << 20, minimum);
    ImageFixture.check(image);
    assertThat(cli.run("cat", image + ":/file").ok().text()).isEqualTo("content");
  }

  @Test
  void takesOneSize() {
    Path image = host.resolve("data.img");
    cli.run("resize", "-M", "-P", image).misused("exclude");
    cli.run("resize", "-M", image, "64M").misused("exclude");
  }
}
