package dev.extant.journal;

import java.io.IOException;

/// The journal stopped after a first fatal error, which is the cause.
public final class JournalAbortedException extends IOException {
  private static final long serialVersionUID = 1L;

  public JournalAbortedException(Throwable cause) {
    super("journal has aborted: " + cause.getMessage(), cause);
  }
}
