package dev.extant.cli;

import java.math.BigDecimal;
import java.math.RoundingMode;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// Sizes as people write them: powers of 1,024 with the letters K, M, G, T, P.
final class Sizes {
  private static final String UNITS = "KMGTP";

  private Sizes() {}

  /// As `ls -h` and `du -h` show it, rounded up: 512, 1.5K, 23M.
  static String human(long bytes) {
    if (bytes < 1024) {
      return Long.toString(bytes);
    }
    int unit = 0;
    while (unit < UNITS.length() - 1 && Math.ceilDiv(bytes, 1L << 10 * (unit + 1)) >= 1024) {
      unit++;
    }
    BigDecimal value = BigDecimal.valueOf(bytes).divide(BigDecimal.valueOf(1L << 10 * (unit + 1)));
    BigDecimal tenths = value.setScale(1, RoundingMode.CEILING);
    boolean small = tenths.compareTo(BigDecimal.TEN) < 0;
    return (small ? tenths : value.setScale(0, RoundingMode.CEILING)).toPlainString()
        + UNITS.charAt(unit);
  }

  /// Reads `65536`, `64K`, `10T`, `4MiB`.
  static long parse(String text) {
    String digits = text.endsWith("iB") ? text.substring(0, text.length() - 2) : text;
    int last = digits.length() - 1;
    int unit = last < 0 ? -1 : UNITS.indexOf(Character.toUpperCase(digits.charAt(last)));
    int shift = 10 * (unit + 1);
    long number = -1;
    try {
      number = Long.parseLong(unit < 0 ? digits : digits.substring(0, last));
    } catch (NumberFormatException e) {
      throw notASize(text, e);
    }
    if (number < 0 || number > Long.MAX_VALUE >> shift) {
      throw notASize(text, null);
    }
    return number << shift;
  }

  private static TypeConversionException notASize(String text, Throwable cause) {
    TypeConversionException exception =
        new TypeConversionException(
            "'" + text + "' is not a size (write 256M, 10T or a number of bytes)");
    exception.initCause(cause);
    return exception;
  }

  /// For options and parameters that are sizes.
  static final class Converter implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      return parse(text);
    }
  }
}
