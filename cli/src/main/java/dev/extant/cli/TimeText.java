package dev.extant.cli;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;

/// Times as users write them: `2026-01-31T23:59:59Z`, `2026-01-31 23:59`, `2026-01-31` and
/// `@SECONDS`. Without a zone they are in the zone of the host.
final class TimeText {
  private TimeText() {}

  /// Throws a `DateTimeException` for what is no time.
  static Instant parse(String text) {
    if (text.startsWith("@")) {
      return ofSeconds(text.substring(1));
    }
    String iso = text.replace(' ', 'T');
    if (!iso.contains("T")) {
      return LocalDate.parse(iso).atStartOfDay(ZoneId.systemDefault()).toInstant();
    }
    boolean zoned = iso.matches(".*(Z|[-+]\\d\\d(:?\\d\\d)?)");
    return zoned && iso.indexOf(':') > 0
        ? OffsetDateTime.parse(iso).toInstant()
        : LocalDateTime.parse(iso).atZone(ZoneId.systemDefault()).toInstant();
  }

  private static Instant ofSeconds(String text) {
    try {
      BigDecimal nanos = new BigDecimal(text).movePointRight(9);
      BigDecimal[] parts = nanos.divideAndRemainder(BigDecimal.valueOf(1_000_000_000));
      return Instant.ofEpochSecond(parts[0].longValueExact(), parts[1].longValue());
    } catch (ArithmeticException | NumberFormatException e) {
      throw new DateTimeException("not a number of seconds: " + text, e);
    }
  }
}
