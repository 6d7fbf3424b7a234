package dev.extant.vfs;

import java.io.IOException;

/// An operation of a [Volume] that was refused or failed. The message is one sentence with what and
/// where.
public final class FsException extends IOException {
  private static final long serialVersionUID = 1L;
  private final Errno errno;

  public FsException(Errno errno, String message) {
    super(message);
    this.errno = errno;
  }

  public FsException(Errno errno, String message, Throwable cause) {
    super(message, cause);
    this.errno = errno;
  }

  public Errno errno() {
    return errno;
  }
}
