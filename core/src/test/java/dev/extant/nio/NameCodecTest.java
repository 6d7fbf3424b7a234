package dev.extant.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.util.Arrays;
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

  private static void comesBack(byte... bytes) {
    String text = NameCodec.decode(bytes);
    if (!Arrays.equals(NameCodec.encode(text), bytes)) {
      throw new AssertionError(HexFormat.of().formatHex(bytes) + " became " + text);
    }
  }

  @Test
  void allShortNamesComeBack() {
    for (int i = 1; i < 256; i++) {
      comesBack((byte) i);
      for (int j = 1; j < 256; j++) {
        comesBack((byte) i, (byte) j);
        comesBack((byte) 0xf0, (byte) 0x9f, (byte) i, (byte) j);
      }
    }
  }

  @Test
  void whatLooksLikeUtf8ComesBack() {
    for (int i = 0x80; i < 0xc0; i++) {
      for (int j = 0x80; j < 0xc0; j++) {
        comesBack((byte) 0xed, (byte) i, (byte) j); // surrogates from 0xa0 on
        comesBack((byte) 0xe0, (byte) i, (byte) j); // too long below 0xa0
        comesBack((byte) 0xf4, (byte) i, (byte) j, (byte) 0xbf); // above U+10FFFF from 0x90 on
        comesBack((byte) 0xed, (byte) 0xa0, (byte) i, (byte) 0xed, (byte) 0xb0, (byte) j);
      }
    }
  }

  @Test
  void aPairBeforeAByteThatIsNoUtf8() {
    byte[] bytes = HexFormat.of().parseHex("f09f9880ff");
    assertThat(NameCodec.decode(bytes)).isEqualTo("😀\uDCFF");
    comesBack(bytes);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\0", "\uD800", "\uDC00x", "\uDC7F", "\uDD00", "x\uD83D"})
  void whatNoBytesDecodeToIsRefused(String text) {
    assertThatExceptionOfType(InvalidPathException.class).isThrownBy(() -> NameCodec.encode(text));
  }
}
