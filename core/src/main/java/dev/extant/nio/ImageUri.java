package dev.extant.nio;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/// URIs of the scheme `extant`: `extant:KEY!/path`, where KEY names the file system and is, for an
/// image file, its own URI (`extant:file:///srv/data.img!/etc/hosts`).
///
/// In the path all bytes but a few are escaped by `%`, `!` among them, so the last `!/` of a URI is
/// the border. Behind the key there may be options, `extant:file:///srv/data.img?ro&commit=30`,
/// which count when the file system is opened.
record ImageUri(String key, Map<String, String> options, byte[] path) {
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
    String fileSystem = border < 0 ? rest : rest.substring(0, border);
    int question = fileSystem.indexOf('?');
    String key = question < 0 ? fileSystem : fileSystem.substring(0, question);
    if (key.isEmpty() || key.startsWith("/")) {
      throw new IllegalArgumentException("not like extant:file:///data.img!/path: " + uri);
    }
    return new ImageUri(
        key,
        question < 0 ? Map.of() : options(fileSystem.substring(question + 1)),
        border < 0 ? new byte[] {'/'} : unescape(rest.substring(border + 1)));
  }

  /// `NAME=VALUE` and `NAME`, the latter with the value `true`.
  private static Map<String, String> options(String query) {
    Map<String, String> options = new LinkedHashMap<>();
    for (String item : query.split("&")) {
      int equals = item.indexOf('=');
      String name = equals < 0 ? item : item.substring(0, equals);
      if (!item.isEmpty()) {
        options.put(text(name), equals < 0 ? "true" : text(item.substring(equals + 1)));
      }
    }
    return options;
  }

  private static String text(String escaped) {
    return new String(unescape(escaped), StandardCharsets.UTF_8);
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
