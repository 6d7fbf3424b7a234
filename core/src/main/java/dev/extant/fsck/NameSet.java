package dev.extant.fsck;

import java.util.Arrays;

/// The names of one directory, as 64-bit hashes: finds names that are there twice. Bounded: of a
/// directory with more names than it takes, only the first are kept.
final class NameSet {
  /// 64 MiB of hashes.
  private static final int MAX_NAMES = 1 << 22;

  private static final long MULTIPLIER = 0x9E37_79B9_7F4A_7C15L;

  private long[] hashes = new long[64];
  private int size;

  /// True if the name was there already.
  boolean addAgain(byte[] name) {
    long hash = hash(name);
    int slot = slot(hash);
    if (hashes[slot] == hash) {
      return true;
    }
    if (size < MAX_NAMES) {
      hashes[slot] = hash;
      size++;
      if (2 * size > hashes.length) {
        grow();
      }
    }
    return false;
  }

  void clear() {
    if (hashes.length > 1 << 12) {
      hashes = new long[64];
    } else {
      Arrays.fill(hashes, 0);
    }
    size = 0;
  }

  private int slot(long hash) {
    int mask = hashes.length - 1;
    int slot = (int) (hash >>> 32) & mask;
    while (hashes[slot] != 0 && hashes[slot] != hash) {
      slot = slot + 1 & mask;
    }
    return slot;
  }

  private void grow() {
    long[] old = hashes;
    hashes = new long[2 * old.length];
    for (long hash : old) {
      if (hash != 0) {
        hashes[slot(hash)] = hash;
      }
    }
  }

  /// Never 0.
  private static long hash(byte[] name) {
    long hash = name.length;
    for (byte octet : name) {
      hash = (hash ^ octet & 0xff) * MULTIPLIER;
      hash ^= hash >>> 29;
    }
    return hash == 0 ? 1 : hash;
  }
}
