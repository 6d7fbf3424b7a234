package dev.extant.fsck;

/// The check cannot go on; the message says why.
final class CannotCheckException extends Exception {
  private static final long serialVersionUID = 1L;

  CannotCheckException(String message) {
    super(message);
  }
}
