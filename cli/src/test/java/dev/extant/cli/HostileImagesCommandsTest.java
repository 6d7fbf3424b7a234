package dev.extant.cli;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.extant.testkit.HostileImages;
import dev.extant.testkit.Images;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Commands on images that mean harm, and on what is no image: an answer, or a sentence and a
/// documented exit code.
class HostileImagesCommandsTest {
  @TempDir Path folder;

  private final Cli cli = new Cli(new MountedImages());

  @Test
  void harmfulImagesAreAnsweredOrRefused() throws IOException {
    Path image = folder.resolve("hostile.img");
    for (HostileImages.Case hostile : HostileImages.make(OurBases.make())) {
      Images.copy(hostile.device(), image);
      assertAnswered(hostile.name(), 1, "info", image);
      assertAnswered(hostile.name(), 1, "ls", "-lR", image + ":/");
      assertAnswered(hostile.name(), 1, "cat", image + ":/large");
      assertAnswered(hostile.name(), 1, "stat", image + ":/deep");
      assertAnswered(hostile.name(), 1, "df", image);
      assertAnswered(hostile.name(), 1, "journal", image);
      assertAnswered(hostile.name(), 12, "fsck", image);
      assertAnswered(hostile.name(), 1, "touch", image + ":/new");
      assertAnswered(hostile.name(), 1, "recover", image);
    }
  }

  @Test
  void whatIsNoImageIsRefused() throws IOException {
    Path empty = Files.createFile(folder.resolve("empty"));
    Path one = Files.write(folder.resolve("one"), new byte[] {'x'});
    Path text = Files.writeString(folder.resolve("text"), "no image\n".repeat(1000));
    for (Path image : new Path[] {folder, empty, one, text, folder.resolve("missing")}) {
      for (String command : new String[] {"info", "df", "journal", "recover"}) {
        cli.run(command, image).failed(image.getFileName().toString());
      }
      cli.run("ls", image + ":/").failed(image.getFileName().toString());
      cli.run("cat", image + ":/a").failed(image.getFileName().toString());
      assertThat(assertAnswered(image.toString(), 8, "fsck", image)).isEqualTo(8);
    }
  }

  private int assertAnswered(String name, int most, Object... arguments) {
    String what = name + ": " + Arrays.toString(arguments);
    Cli.Result result = assertTimeoutPreemptively(ofSeconds(30), () -> cli.run(arguments), what);
    assertThat(result.code()).as(what + " " + result.err()).isBetween(0, most);
    assertThat(result.err()).as(what).doesNotContain("\tat ", "Exception", "null");
    if (!arguments[0].equals("fsck") && result.code() != 0) {
      assertThat(result.err().lines()).as(what).isNotEmpty();
      assertThat(result.err().lines()).as(what).allMatch(line -> line.startsWith("extant: "));
    }
    return result.code();
  }
}
