package dev.extant.nio;

import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/// Translates a glob of [java.nio.file.FileSystem#getPathMatcher] into a regular expression.
///
/// `*` and `?` stop at a slash, `**` does not; `[…]` never matches a slash, takes `!` first as
/// "not" and everything but `-`, `]` and a leading `!` literally; `{a,b}` does not nest; a
/// backslash outside brackets takes the next character literally.
final class GlobPattern {
  private static final char END = 0;

  private final String glob;
  private final StringBuilder regex = new StringBuilder();
  private int next;
  private boolean inGroup;

  private GlobPattern(String glob) {
    this.glob = glob;
  }

  /// @throws PatternSyntaxException if the glob is malformed
  static Pattern compile(String glob) {
    return Pattern.compile(new GlobPattern(glob).translate(), Pattern.DOTALL);
  }

  private String translate() {
    while (next < glob.length()) {
      char c = glob.charAt(next++);
      switch (c) {
        case '*' -> star();
        case '?' -> regex.append("[^/]");
        case '[' -> bracket();
        case '{' -> openGroup();
        case '}' -> closeGroup();
        case ',' -> regex.append(inGroup ? ")|(?:" : ",");
        case '\\' -> escaped();
        default -> literal(c);
      }
    }
    if (inGroup) {
      throw malformed("missing }");
    }
    return regex.toString();
  }

  private void star() {
    if (peek() == '*') {
      next++;
      regex.append(".*");
    } else {
      regex.append("[^/]*");
    }
  }

  private void openGroup() {
    if (inGroup) {
      throw malformed("groups do not nest");
    }
    regex.append("(?:(?:");
    inGroup = true;
  }

  private void closeGroup() {
    regex.append(inGroup ? "))" : "\\}");
    inGroup = false;
  }

  private void escaped() {
    if (next == glob.length()) {
      throw malformed("nothing after the backslash");
    }
    literal(glob.charAt(next++));
  }

  private void literal(int c) {
    if (c < 0x80 && !Character.isLetterOrDigit(c) && c > ' ') {
      regex.append('\\');
    }
    regex.appendCodePoint(c);
  }

  /// Reads a bracket expression; its opening is behind us.
  private void bracket() {
    regex.append("[[^/]&&[");
    if (peek() == '!') {
      next++;
      regex.append('^');
    }
    boolean empty = true;
    while (peek() != ']') {
      int first = member();
      literal(first);
      empty = false;
      if (peek() == '-' && next + 1 < glob.length() && glob.charAt(next + 1) != ']') {
        next++;
        int last = member();
        if (last < first) {
          throw malformed("a range from high to low");
        }
        regex.append('-');
        literal(last);
      }
    }
    next++;
    if (empty) {
      throw malformed("nothing between brackets");
    }
    regex.append("]]");
  }

  private int member() {
    if (next == glob.length()) {
      throw malformed("missing ]");
    }
    int c = glob.codePointAt(next);
    if (c == '/') {
      throw malformed("a slash between brackets");
    }
    next += Character.charCount(c);
    return c;
  }

  private char peek() {
    return next < glob.length() ? glob.charAt(next) : END;
  }

  private PatternSyntaxException malformed(String what) {
    return new PatternSyntaxException(what, glob, Math.min(next, glob.length()) - 1);
  }
}
