package dev.extant.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/// Runs commands in this JVM and keeps what they say.
final class Cli {
  private final Images images;

  Cli(Images images) {
    this.images = images;
  }

  /// What a command did.
  record Result(int code, byte[] out, String err) {
    String text() {
      return new String(out, StandardCharsets.UTF_8);
    }

    /// Done, and nothing to complain of.
    Result ok() {
      assertThat(err).isEmpty();
      assertThat(code).isZero();
      return this;
    }

    /// Failed with one sentence that has all these words in it.
    Result failed(String... words) {
      assertThat(code).as(err).isEqualTo(1);
      assertThat(err).startsWith("extant: ").contains(words).doesNotContain("\tat ");
      assertThat(err.strip().lines()).hasSize(1);
      return this;
    }

    /// Was used wrongly.
    Result misused(String... words) {
      assertThat(code).as(err).isEqualTo(2);
      assertThat(err).contains(words).contains("--help");
      return this;
    }
  }

  Result run(Object... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    String[] texts = new String[arguments.length];
    for (int i = 0; i < texts.length; i++) {
      texts[i] = arguments[i].toString();
    }
    Console console = new Console(out, new PrintStream(err, true, StandardCharsets.UTF_8), false);
    int code = Main.run(images, console, texts);
    return new Result(code, out.toByteArray(), err.toString(StandardCharsets.UTF_8));
  }
}
