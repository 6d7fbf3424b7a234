package dev.extant.nio;

import java.nio.file.LinkOption;
import java.util.Objects;

/// Whether the last name of a path is followed when it is a symbolic link.
enum Follow {
  LAST,
  NOT_LAST;

  static Follow of(LinkOption... options) {
    Follow follow = LAST;
    for (LinkOption option : options) {
      Objects.requireNonNull(option);
      follow = NOT_LAST;
    }
    return follow;
  }
}
