package dev.extant.nio;

import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

/// How a channel is opened. Options that make or cut a file count only when it is opened for
/// writing, as NIO says.
record OpenOptions(Set<StandardOpenOption> options, Follow follow) {
  /// @throws IllegalArgumentException for options that exclude each other
  /// @throws UnsupportedOperationException for an option that is not of the standard
  static OpenOptions of(Set<? extends OpenOption> given) {
    EnumSet<StandardOpenOption> options = EnumSet.noneOf(StandardOpenOption.class);
    Follow follow = Follow.LAST;
    for (OpenOption option : given) {
      switch (Objects.requireNonNull(option)) {
        case StandardOpenOption standard -> options.add(standard);
        case LinkOption _ -> follow = Follow.NOT_LAST;
        default -> throw new UnsupportedOperationException(option + " is not supported");
      }
    }
    OpenOptions result = new OpenOptions(options, follow);
    if (options.contains(StandardOpenOption.APPEND)) {
      if (options.contains(StandardOpenOption.READ)) {
        throw new IllegalArgumentException("READ and APPEND exclude each other");
      }
      if (options.contains(StandardOpenOption.TRUNCATE_EXISTING)) {
        throw new IllegalArgumentException("APPEND and TRUNCATE_EXISTING exclude each other");
      }
    }
    return result;
  }

  boolean write() {
    return options.contains(StandardOpenOption.WRITE) || append();
  }

  boolean read() {
    return options.contains(StandardOpenOption.READ) || !write();
  }

  boolean append() {
    return options.contains(StandardOpenOption.APPEND);
  }

  boolean truncate() {
    return write() && options.contains(StandardOpenOption.TRUNCATE_EXISTING);
  }

  boolean createNew() {
    return write() && options.contains(StandardOpenOption.CREATE_NEW);
  }

  boolean create() {
    return createNew() || write() && options.contains(StandardOpenOption.CREATE);
  }

  boolean deleteOnClose() {
    return options.contains(StandardOpenOption.DELETE_ON_CLOSE);
  }

  boolean sync() {
    return options.contains(StandardOpenOption.SYNC);
  }

  boolean dsync() {
    return options.contains(StandardOpenOption.DSYNC);
  }

  /// A new file and one to be deleted are never found through a link in the last name.
  Follow effectiveFollow() {
    return createNew() || deleteOnClose() ? Follow.NOT_LAST : follow;
  }
}
