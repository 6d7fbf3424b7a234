package dev.extant.cli;

import java.io.IOException;

/// Nobody reads our standard output any more, as after `| head`: no reason to complain.
final class ClosedOutputException extends IOException {
  private static final long serialVersionUID = 1L;

  ClosedOutputException(IOException cause) {
    super("standard output is closed", cause);
  }
}
