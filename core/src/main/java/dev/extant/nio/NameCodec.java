package dev.extant.nio;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;

/// Turns the bytes of names into strings and back without loss.
///
/// Bytes that are UTF-8 are decoded as such. Any other byte, 0x80 to 0xFF, becomes the lone low
/// surrogate U+DC80 to U+DCFF, as in Python's "surrogateescape" (PEP 383); UTF-8 itself never
/// decodes to one. So every name made of bytes survives decoding and encoding.
final class NameCodec {
  private static final char ESCAPE = '\uDC00';
  private static final char FIRST_ESCAPE = '\uDC80';
  private static final char LAST_ESCAPE = '\uDCFF';

  private NameCodec() {}

  static String decode(byte[] bytes) {
    for (byte b : bytes) {
      if (b < 0) {
        return decodeAny(bytes);
      }
    }
    return new String(bytes, StandardCharsets.US_ASCII);
  }

  private static String decodeAny(byte[] bytes) {
    CharsetDecoder decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    ByteBuffer in = ByteBuffer.wrap(bytes);
    CharBuffer out = CharBuffer.allocate(bytes.length);
    CoderResult result = decoder.decode(in, out, true);
    while (result.isError()) {
      for (int i = result.length(); i > 0; i--) {
        out.put((char) (ESCAPE + (in.get() & 0xff)));
      }
      decoder.reset();
      result = decoder.decode(in, out, true);
    }
    return out.flip().toString();
  }

  /// @throws InvalidPathException for NUL and for surrogates that [#decode] does not make
  static byte[] encode(String text) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length() + 16);
    int start = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == 0) {
        throw new InvalidPathException(text, "a name holds no NUL character", i);
      }
      if (!Character.isSurrogate(c)) {
        continue;
      }
      if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        i++;
        continue;
      }
      if (c < FIRST_ESCAPE || c > LAST_ESCAPE) {
        throw new InvalidPathException(text, "half of a surrogate pair", i);
      }
      bytes.writeBytes(text.substring(start, i).getBytes(StandardCharsets.UTF_8));
      bytes.write(c - ESCAPE);
      start = i + 1;
    }
    bytes.writeBytes(text.substring(start).getBytes(StandardCharsets.UTF_8));
    return bytes.toByteArray();
  }
}
