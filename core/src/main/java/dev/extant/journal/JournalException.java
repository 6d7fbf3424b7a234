package dev.extant.journal;

import java.io.IOException;

/// A journal that cannot be read, replayed or written to as it is. The message is one sentence.
public final class JournalException extends IOException {
  private static final long serialVersionUID = 1L;

  public enum Kind {
    /// What stands in the journal cannot be right.
    CORRUPT,
    /// It may be right, but it needs something that is not built.
    UNSUPPORTED,
    /// An operation wants more room than the journal has.
    TOO_SMALL
  }

  private final Kind kind;

  public JournalException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  public Kind kind() {
    return kind;
  }
}
