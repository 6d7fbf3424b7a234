package dev.extant.ext4;

import dev.extant.cache.Buffer;

/// An entry in a block of entries, which stays pinned until this is closed.
record EntryPlace(Buffer buffer, EntrySlot slot) implements AutoCloseable {

  @Override
  public void close() {
    buffer.close();
  }
}
