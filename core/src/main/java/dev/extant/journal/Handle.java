package dev.extant.journal;

import dev.extant.cache.Buffer;
import java.io.IOException;

/// One atomic operation of the file system inside a transaction: all of its changes become durable
/// together or not at all.
///
/// Protocol for a metadata block: [#writeAccess] (or [#createAccess] for a newly allocated block),
/// then change its bytes, then [#dirty]. All three within the same handle, the bytes guarded by the
/// caller's own lock.
///
/// A handle is used by one thread. While it is open its transaction cannot commit, so whoever holds
/// one must not wait for a commit, nor for an inode lock (its owner may be waiting to start a
/// handle), nor sleep.
public interface Handle extends AutoCloseable {
  /// The transaction the handle belongs to; grows by one per transaction, never wraps in memory.
  long tid();

  /// Announces a change of an existing block. Afterwards the caller may change the bytes.
  void writeAccess(Buffer buffer) throws IOException;

  /// Announces the first use of a newly allocated block; cancels a revoke of it in this
  /// transaction.
  void createAccess(Buffer buffer) throws IOException;

  /// The announced change was made.
  default void dirty(Buffer buffer) throws IOException {
    dirty(buffer, null);
  }

  /// The announced change was made; `sealer` (if not null) is run on the block once, just before
  /// its transaction is written, when no handle is open.
  void dirty(Buffer buffer, Sealer sealer) throws IOException;

  /// The metadata block was freed: its pending change is dropped and older copies in the log are
  /// revoked. `buffer` may be null when the block is not in memory; otherwise it must be pinned by
  /// the caller.
  void forget(long blockNr, Buffer buffer) throws IOException;

  /// Data that must be on the device before this transaction's commit block (data=ordered).
  void orderedData(OrderedData data);

  /// Asks for more credits. False means there is no room in this transaction: close this handle and
  /// start another one at a point where the file system is consistent.
  boolean extend(int credits);

  /// Credits not yet used up. Revokes count as well: so many as one block of the log holds are one
  /// credit.
  int creditsLeft();

  /// Ends the operation. Its changes are not durable yet: see [Journal#commit]. Never waits.
  @Override
  void close();
}
