package dev.extant.ext4.format;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.testkit.Oracles;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Compares the hashes of names with those of debugfs.
class DirHashOracleTest {
  /// Added to the number of a hash whose bytes count as unsigned.
  private static final int UNSIGNED = 3;

  private static final Pattern ANSWER =
      Pattern.compile("Hash of .* is 0x([0-9a-f]+) \\(minor 0x([0-9a-f]+)\\)", Pattern.DOTALL);

  private record Question(byte[] name, int version, boolean unsignedBytes, UUID seed) {
    String command() {
      return "dx_hash -h "
          + (version + (unsignedBytes ? UNSIGNED : 0))
          + (seed == null ? "" : " -s " + seed)
          + " ";
    }

    DirHash hash() throws Exception {
      int[] words = new int[4];
      if (seed != null) {
        ByteBuffer bytes = ByteBuffer.allocate(16);
        bytes.putLong(seed.getMostSignificantBits()).putLong(seed.getLeastSignificantBits());
        bytes.flip().order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(words);
      }
      return new DirHash(version, unsignedBytes, words);
    }
  }

  @TempDir Path folder;

  @Test
  void agreesWithDebugfs() throws Exception {
    Oracles.require("debugfs");
    long seed = 20_250_701;
    Random random = new Random(seed);
    List<Question> questions = new ArrayList<>();
    ByteArrayOutputStream script = new ByteArrayOutputStream();
    for (int i = 0; i < 6 * 255 * 4; i++) {
      byte[] name = randomName(random, 1 + i / 6 % 255);
      UUID uuid = i % 5 == 0 ? null : new UUID(random.nextLong(), random.nextLong());
      Question question = new Question(name, i % 3, i / 3 % 2 == 1, uuid);
      questions.add(question);
      script.write(question.command().getBytes(StandardCharsets.US_ASCII));
      script.write(name);
      script.write('\n');
    }
    Path commands = folder.resolve("commands");
    Files.write(commands, script.toByteArray());
    List<Long> answers = answers(Oracles.run("debugfs", "-f", commands).expect(0).output());
    assertThat(answers).hasSize(questions.size());
    for (int i = 0; i < answers.size(); i++) {
      Question question = questions.get(i);
      assertThat(Long.toHexString(question.hash().of(question.name())))
          .as("seed %d, question %d: %s", seed, i, question.command())
          .isEqualTo(Long.toHexString(answers.get(i)));
    }
  }

  private static List<Long> answers(String output) {
    List<Long> answers = new ArrayList<>();
    for (String part : output.split("(?=Hash of )")) {
      Matcher matcher = ANSWER.matcher(part);
      if (matcher.find()) {
        answers.add(
            Long.parseLong(matcher.group(1), 16) << 32 | Long.parseLong(matcher.group(2), 16));
      }
    }
    return answers;
  }

  /// Without what the shell of debugfs takes as something else.
  private static byte[] randomName(Random random, int length) {
    byte[] name = new byte[length];
    for (int i = 0; i < length; i++) {
      do {
        name[i] = (byte) random.nextInt(256);
      } while ((name[i] >= 0 && name[i] <= ' ')
          || "\"'#/\\-(".indexOf(name[i]) >= 0
          || name[i] == 0x7f);
    }
    return name;
  }
}
