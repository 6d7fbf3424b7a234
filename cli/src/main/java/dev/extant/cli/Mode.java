package dev.extant.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// A change of permissions as chmod(1) takes it: octal, or clauses like `u+rwX,go-w`.
final class Mode {
  private static final Pattern OCTAL = Pattern.compile("[0-7]{1,5}");
  private static final Pattern CLAUSE = Pattern.compile("([ugoa]*)((?:[-+=](?:[rwxXst]*|[ugo]))+)");
  private static final Pattern ACTION = Pattern.compile("([-+=])([rwxXst]*|[ugo])");

  /// `who` has the bits of the classes meant; `what` is letters.
  private record Action(int who, char operator, String what) {}

  private final int absolute;
  private final List<Action> actions;

  private Mode(int absolute, List<Action> actions) {
    this.absolute = absolute;
    this.actions = actions;
  }

  static Mode parse(String text) {
    if (OCTAL.matcher(text).matches()) {
      int value = Integer.parseInt(text, 8);
      if (value <= 07777) {
        return new Mode(value, null);
      }
    }
    List<Action> actions = new ArrayList<>();
    for (String clause : text.split(",", -1)) {
      Matcher matcher = CLAUSE.matcher(clause);
      if (!matcher.matches()) {
        throw new TypeConversionException("'" + text + "' is not a mode");
      }
      int who = classes(matcher.group(1));
      Matcher action = ACTION.matcher(matcher.group(2));
      while (action.find()) {
        actions.add(new Action(who, action.group(1).charAt(0), action.group(2)));
      }
    }
    return new Mode(0, actions);
  }

  private static int classes(String letters) {
    int bits = 0;
    for (char letter : letters.toCharArray()) {
      bits |=
          switch (letter) {
            case 'u' -> 04700;
            case 'g' -> 02070;
            case 'o' -> 01007;
            default -> 07777;
          };
    }
    return bits == 0 ? 07777 : bits;
  }

  /// The new permissions of a file that has `old`.
  int apply(int old, boolean directory) {
    if (actions == null) {
      return absolute;
    }
    int mode = old;
    for (Action action : actions) {
      int bits = bits(action.what(), mode, directory) & action.who();
      mode =
          switch (action.operator()) {
            case '+' -> mode | bits;
            case '-' -> mode & ~bits;
            default -> mode & ~(action.who() & (directory ? 01777 : 07777)) | bits;
          };
    }
    return mode;
  }

  private static int bits(String letters, int mode, boolean directory) {
    int bits = 0;
    for (char letter : letters.toCharArray()) {
      bits |=
          switch (letter) {
            case 'r' -> 0444;
            case 'w' -> 0222;
            case 'x' -> 0111;
            case 'X' -> directory || (mode & 0111) != 0 ? 0111 : 0;
            case 's' -> 06000;
            case 't' -> 01000;
            case 'u' -> 0111 * (mode >> 6 & 7);
            case 'g' -> 0111 * (mode >> 3 & 7);
            default -> 0111 * (mode & 7);
          };
    }
    return bits;
  }

  /// For options and parameters that are modes.
  static final class Converter implements ITypeConverter<Mode> {
    @Override
    public Mode convert(String text) {
      return parse(text);
    }
  }
}
