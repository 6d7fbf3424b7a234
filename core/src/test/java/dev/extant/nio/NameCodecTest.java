package dev.extant.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NameCodecTest {
  @Test
  void utf8IsDecodedAsSuch() {
    for (String text : new String[] {"", "plain", "äöü", "€", "😀 x 😀"}) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      assertThat(NameCodec.decode(bytes)).isEqualTo(text);
      assertThat(NameCodec.encode(text)).isEqualTo(bytes);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "ff, \uDCFF",
    "61e4, a\uDCE4",
    "e28261, \uDCE2\uDC82a",
    "c3a4c3, ä\uDCC3",
    "eda080, \uDCED\uDCA0\uDC80"
  })
  void otherBytesBecomeLoneSurrogates(String hex, String text) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    assertThat(NameCodec.decode(bytes)).isEqualTo(text);
    assertThat(NameCodec.encode(text)).isEqualTo(bytes);
  }

  @Test
  void anyBytesComeBack() {
    long seed = 20_261_201;
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[1 + random.nextInt(12)];
      for (int j = 0; j < bytes.length; j++) {
        int high = random.nextBoolean() ? 0xC0 : 0x80;
        bytes[j] = (byte) (random.nextInt(4) == 0 ? 'a' : high + random.nextInt(64));
      }
      assertThat(NameCodec.encode(NameCodec.decode(bytes))).as("seed " + seed).isEqualTo(bytes);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\0", "\uD800", "\uDC00x", "\uDC7F", "\uDD00", "x\uD83D"})
  void whatNoBytesDecodeToIsRefused(String text) {
    assertThatExceptionOfType(InvalidPathException.class).isThrownBy(() -> NameCodec.encode(text));
  }
}
