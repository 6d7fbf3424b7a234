package dev.extant.testkit;

import java.util.regex.Pattern;

/// Makes messages of failed tests readable.
final class Abbreviation {
  private static final Pattern REPEATED = Pattern.compile("(.)\\1{9,}");

  private Abbreviation() {}

  /// Long runs of one character are shown as one, with an ellipsis.
  static String of(String text) {
    return REPEATED.matcher(text).replaceAll("$1…");
  }
}
