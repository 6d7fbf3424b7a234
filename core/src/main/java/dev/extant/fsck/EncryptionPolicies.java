package dev.extant.fsck;

import dev.extant.util.Crc32c;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;

/// The encryption policy of each encrypted inode, as a checksum over it: for the rule that what an
/// encrypted directory holds has the directory's policy. A policy is the context (Linux
/// documentation, "fscrypt", "Encryption context") without its nonce. Eight bytes an encrypted
/// inode and some room. For any number of threads.
final class EncryptionPolicies {
  /// The inode has no policy that can be read.
  static final int NONE = 0;

  private static final int VERSION_1_SIZE = 28;
  private static final int VERSION_2_SIZE = 40;
  private static final int NONCE_SIZE = 16;
  private static final int MULTIPLIER = 0x9E37_79B9;

  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock. A slot is 0, or an inode number and below it the policy.
  private long[] slots = new long[64];
  private int size;

  /// Keeps the policy in a context. False if it is none.
  boolean add(long ino, MemorySegment context) {
    if (!valid(context)) {
      return false;
    }
    int policy = Crc32c.update(~0, context, 0, context.byteSize() - NONCE_SIZE);
    lock.lock();
    try {
      if (2 * ++size > slots.length) {
        grow();
      }
      slots[slot(ino)] = ino << 32 | (policy == NONE ? 1 : policy) & 0xffff_ffffL;
    } finally {
      lock.unlock();
    }
    return true;
  }

  private static boolean valid(MemorySegment context) {
    if (context.byteSize() == 0) {
      return false;
    }
    return switch (Le.u8(context, 0)) {
      case 1 -> context.byteSize() == VERSION_1_SIZE;
      case 2 -> context.byteSize() == VERSION_2_SIZE;
      default -> false;
    };
  }

  /// [#NONE] if the inode has none.
  int of(long ino) {
    lock.lock();
    try {
      return (int) slots[slot(ino)];
    } finally {
      lock.unlock();
    }
  }

  private int slot(long ino) {
    int mask = slots.length - 1;
    int hash = (int) ino * MULTIPLIER;
    int slot = (hash ^ hash >>> 16) & mask;
    while (slots[slot] != 0 && slots[slot] >>> 32 != ino) {
      slot = slot + 1 & mask;
    }
    return slot;
  }

  private void grow() {
    long[] old = slots;
    slots = new long[2 * old.length];
    for (long entry : old) {
      if (entry != 0) {
        slots[slot(entry >>> 32)] = entry;
      }
    }
  }
}
