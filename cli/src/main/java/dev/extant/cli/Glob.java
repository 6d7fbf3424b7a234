package dev.extant.cli;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;

/// A pattern of the shell as fnmatch(3) takes it: `*`, `?`, `[a-z]`, `[!a-z]`, `[[:digit:]]` and
/// `\x`. A slash and a leading dot are characters like others.
///
/// It matches bytes as UTF-8; each byte that is no part of valid UTF-8 counts as one character,
/// which only `*`, `?` and a negated class match. Time is at most the product of the two lengths.
final class Glob {
  /// A byte that is no UTF-8 becomes a lone surrogate, which no valid name has.
  private static final int LONE = 0xDC00;

  private static final Map<String, IntPredicate> CLASSES =
      Map.ofEntries(
          Map.entry("alpha", Character::isLetter),
          Map.entry("digit", c -> c >= '0' && c <= '9'),
          Map.entry("alnum", c -> Character.isLetter(c) || c >= '0' && c <= '9'),
          Map.entry("upper", Character::isUpperCase),
          Map.entry("lower", Character::isLowerCase),
          Map.entry("space", c -> Character.isWhitespace(c)),
          Map.entry("blank", c -> c == ' ' || c == '\t'),
          Map.entry("punct", c -> c > ' ' && c < 0x7F && !Character.isLetterOrDigit(c)),
          Map.entry("cntrl", Character::isISOControl),
          Map.entry("graph", c -> c > ' ' && c != 0x7F),
          Map.entry("print", c -> c >= ' ' && c != 0x7F),
          Map.entry("xdigit", c -> Character.digit(c, 16) >= 0 && c < 0x80));

  private final int[] pattern;
  private final boolean ignoreCase;

  /// What each character must be; null stands for `*`.
  private final List<IntPredicate> elements = new ArrayList<>();

  Glob(String text, boolean ignoreCase) {
    this.ignoreCase = ignoreCase;
    this.pattern = text.codePoints().toArray();
    int at = 0;
    while (at < pattern.length) {
      at = parse(at);
    }
  }

  /// Adds one element and tells where the next one starts.
  private int parse(int at) {
    int c = pattern[at];
    if (c == '*') {
      elements.add(null);
      return at + 1;
    }
    if (c == '?') {
      elements.add(_ -> true);
      return at + 1;
    }
    if (c == '[') {
      int end = endOfSet(at + 1);
      if (end > 0) {
        elements.add(set(at + 1, end));
        return end + 1;
      }
    }
    boolean escaped = c == '\\' && at + 1 < pattern.length;
    int literal = fold(escaped ? pattern[at + 1] : c);
    elements.add(x -> fold(x) == literal);
    return at + (escaped ? 2 : 1);
  }

  /// Where the bracket closes, or -1 if it does not and stands for itself.
  private int endOfSet(int start) {
    int at = start;
    if (at < pattern.length && (pattern[at] == '!' || pattern[at] == '^')) {
      at++;
    }
    boolean first = true;
    while (at < pattern.length) {
      if (pattern[at] == ']' && !first) {
        return at;
      }
      first = false;
      int classEnd = endOfClass(at);
      at = classEnd > 0 ? classEnd : at + (pattern[at] == '\\' ? 2 : 1);
    }
    return -1;
  }

  /// Behind `[:name:]` at a place in a set, or -1 if there is none.
  private int endOfClass(int at) {
    if (pattern[at] != '[' || at + 1 >= pattern.length || pattern[at + 1] != ':') {
      return -1;
    }
    for (int i = at + 2; i + 1 < pattern.length; i++) {
      if (pattern[i] == ':' && pattern[i + 1] == ']') {
        return CLASSES.containsKey(new String(pattern, at + 2, i - at - 2)) ? i + 2 : -1;
      }
    }
    return -1;
  }

  private IntPredicate set(int start, int end) {
    boolean negated = pattern[start] == '!' || pattern[start] == '^';
    List<IntPredicate> parts = new ArrayList<>();
    int at = negated ? start + 1 : start;
    while (at < end) {
      int classEnd = endOfClass(at);
      if (classEnd > 0) {
        parts.add(CLASSES.get(new String(pattern, at + 2, classEnd - at - 4)));
        at = classEnd;
        continue;
      }
      at += pattern[at] == '\\' && at + 1 < end ? 1 : 0;
      int from = pattern[at++];
      int to = from;
      if (at + 1 < end && pattern[at] == '-') {
        at += pattern[at + 1] == '\\' && at + 2 < end ? 2 : 1;
        to = pattern[at++];
      }
      parts.add(range(from, to));
    }
    return c -> parts.stream().anyMatch(part -> part.test(c)) != negated;
  }

  private IntPredicate range(int from, int to) {
    if (!ignoreCase) {
      return c -> c >= from && c <= to;
    }
    return c -> {
      int lower = Character.toLowerCase(c);
      int upper = Character.toUpperCase(c);
      return lower >= from && lower <= to || upper >= from && upper <= to;
    };
  }

  private int fold(int c) {
    return ignoreCase ? Character.toLowerCase(Character.toUpperCase(c)) : c;
  }

  boolean matches(byte[] name) {
    int[] text = characters(name);
    int at = 0;
    int element = 0;
    int star = -1;
    int resume = 0;
    while (at < text.length) {
      if (element < elements.size() && elements.get(element) == null) {
        star = element++;
        resume = at;
      } else if (element < elements.size() && elements.get(element).test(text[at])) {
        element++;
        at++;
      } else if (star >= 0) {
        // The last star takes one character more.
        element = star + 1;
        at = ++resume;
      } else {
        return false;
      }
    }
    while (element < elements.size() && elements.get(element) == null) {
      element++;
    }
    return element == elements.size();
  }

  private static int[] characters(byte[] name) {
    CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
    ByteBuffer bytes = ByteBuffer.wrap(name);
    CharBuffer text = CharBuffer.allocate(name.length);
    CoderResult result = decoder.decode(bytes, text, true);
    while (result.isError()) {
      for (int i = 0; i < result.length(); i++) {
        text.put((char) (LONE | bytes.get() & 0xFF));
      }
      result = decoder.decode(bytes, text, true);
    }
    return text.flip().codePoints().toArray();
  }
}
