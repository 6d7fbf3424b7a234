package dev.extant.nio;

import java.io.ByteArrayOutputStream;
import java.net.URI;

/// URIs of the scheme `extant`: `extant:KEY!/path`, where KEY names the file system and is, for an
/// image file, its own URI (`extant:file:///srv/data.img!/etc/hosts`).
///
/// In the path all bytes but a few are escaped by `%`, `!` among them, so the last `!/` of a URI is
/// the border.
record ImageUri(String key, byte[] path) {
  static final String SCHEME = "extant";
  private static final String BORDER = "!/";
  private static final String PLAIN = "/-._~$&'()*+,;=:@";

  /// Reads a URI; without a border the path is `/`.
  ///
  /// @throws IllegalArgumentException if the URI has not this form
  static ImageUri parse(URI uri) {
    if (!SCHEME.equalsIgnoreCase(uri.getScheme())) {
      throw new IllegalArgumentException("not of the scheme " + SCHEME + ": " + uri);
    }
    String rest = URI.create(uri.toASCIIString()).getRawSchemeSpecificPart();
    int border = rest.lastIndexOf(BORDER);
    String key = border < 0 ? rest : rest.substring(0, border);
    if (key.isEmpty() || key.startsWith("/")) {
      throw new IllegalArgumentException("not like extant:file:///data.img!/path: " + uri);
    }
    return new ImageUri(key, border < 0 ? new byte[] {'/'} : unescape(rest.substring(border + 1)));
  }

  static URI of(String key, byte[] absolutePath) {
    StringBuilder text = new StringBuilder(SCHEME).append(':').append(key).append('!');
    for (byte b : absolutePath) {
      char c = (char) (b & 0xff);
      if (c < 0x80 && (Character.isLetterOrDigit(c) || PLAIN.indexOf(c) >= 0)) {
        text.append(c);
      } else {
        text.append('%').append(String.format("%02X", (int) c));
      }
    }
    return URI.create(text.toString());
  }

  private static byte[] unescape(String escaped) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(escaped.length());
    for (int i = 0; i < escaped.length(); i++) {
      char c = escaped.charAt(i);
      if (c == '%') {
        int value = Integer.parseInt(escaped.substring(i + 1, i + 3), 16);
        if (value == 0) {
          throw new IllegalArgumentException("a name holds no NUL character: " + escaped);
        }
        bytes.write(value);
        i += 2;
      } else {
        bytes.write(c);
      }
    }
    return bytes.toByteArray();
  }
}
