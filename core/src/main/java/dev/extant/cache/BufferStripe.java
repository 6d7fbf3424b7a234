package dev.extant.cache;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/// One stripe of the buffer cache's table: hash chains and a second-chance hand, all guarded by
/// `lock`.
final class BufferStripe {
  private static final int INITIAL_CHAINS = 16;

  final ReentrantLock lock = new ReentrantLock();
  private Buffer[] chains = new Buffer[INITIAL_CHAINS];
  private int count;
  private int hand;

  Buffer find(long blockNr) {
    Buffer buffer = chains[chain(blockNr)];
    while (buffer != null && buffer.blockNr() != blockNr) {
      buffer = buffer.next;
    }
    return buffer;
  }

  void add(Buffer buffer) {
    if (count >= chains.length) {
      grow();
    }
    int chain = chain(buffer.blockNr());
    buffer.next = chains[chain];
    chains[chain] = buffer;
    count++;
  }

  void remove(Buffer buffer) {
    int chain = chain(buffer.blockNr());
    if (chains[chain] == buffer) {
      chains[chain] = buffer.next;
    } else {
      Buffer before = chains[chain];
      while (before.next != buffer) {
        before = before.next;
      }
      before.next = buffer.next;
    }
    buffer.next = null;
    buffer.mapped = false;
    count--;
  }

  void forEach(Consumer<Buffer> action) {
    for (Buffer head : chains) {
      for (Buffer buffer = head; buffer != null; buffer = buffer.next) {
        action.accept(buffer);
      }
    }
  }

  /// Takes out the next evictable buffer that was not handed out since the hand came by last; null
  /// if two rounds find none.
  Buffer evictOne() {
    for (int step = 0; step < 2 * chains.length && count > 0; step++) {
      hand = hand + 1 & chains.length - 1;
      for (Buffer buffer = chains[hand]; buffer != null; buffer = buffer.next) {
        if (!buffer.evictable()) {
          continue;
        }
        if (buffer.referenced) {
          buffer.referenced = false;
        } else {
          remove(buffer);
          return buffer;
        }
      }
    }
    return null;
  }

  private int chain(long blockNr) {
    return (int) (blockNr * 0x9E3779B97F4A7C15L >>> 26) & chains.length - 1;
  }

  private void grow() {
    Buffer[] old = chains;
    chains = new Buffer[old.length * 2];
    for (Buffer head : old) {
      Buffer buffer = head;
      while (buffer != null) {
        Buffer next = buffer.next;
        int chain = chain(buffer.blockNr());
        buffer.next = chains[chain];
        chains[chain] = buffer;
        buffer = next;
      }
    }
  }
}
