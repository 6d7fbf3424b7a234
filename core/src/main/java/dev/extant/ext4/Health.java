package dev.extant.ext4;

import dev.extant.block.DeviceException;
import dev.extant.journal.Journal;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions.ErrorPolicy;
import java.io.IOException;

/// Whether a mount may still be changed, and the first error that ended that (I7).
///
/// A corruption that was found is handed to [#corrupt]; what follows is the mount's `errors=`
/// policy: `continue` only remembers it, the others abort the journal, after which every change is
/// refused with EROFS and the first cause; `panic` closes the mount besides ([#mustClose]).
final class Health implements CorruptionHandler {
  private final boolean mountedReadOnly;

  /// What keeps the file system from being written, or null.
  private final String readOnlyReason;

  private final ErrorPolicy policy;
  private volatile Throwable firstError;
  private volatile Journal journal;

  Health(boolean mountedReadOnly, String readOnlyReason, ErrorPolicy policy) {
    this.mountedReadOnly = mountedReadOnly;
    this.readOnlyReason = readOnlyReason;
    this.policy = policy;
  }

  void journal(Journal value) {
    journal = value;
  }

  boolean readOnly() {
    return mountedReadOnly || abortCause() != null;
  }

  /// What happened is such that the mount has to be closed.
  boolean mustClose() {
    return policy == ErrorPolicy.PANIC && firstError() != null;
  }

  /// The first corruption or fatal error, or null.
  Throwable firstError() {
    Throwable abort = abortCause();
    return firstError != null ? firstError : abort;
  }

  private Throwable abortCause() {
    Journal current = journal;
    return current == null ? null : current.abortCause();
  }

  @Override
  public void corrupt(FsException damage) {
    failed(damage);
  }

  /// Any other error after which the file system in memory cannot be trusted to reach the disk.
  void failed(Throwable error) {
    synchronized (this) {
      if (firstError == null) {
        firstError = error;
      }
    }
    Journal current = journal;
    if (policy != ErrorPolicy.CONTINUE && current != null && !mountedReadOnly) {
      current.abort(error);
    }
  }

  /// An inode could not be freed: it stays an orphan; a later mount or e2fsck frees it.
  void evictionFailed(long ino, IOException error) {
    failed(new IOException("inode " + ino + " could not be freed: " + error.getMessage(), error));
  }

  /// Data could not be written back. The file keeps the error for its fsync callers; a device that
  /// failed a write fails all later ones, so the journal cannot go on either.
  void writebackFailed(Exception error) {
    failed(error);
  }

  /// The device belongs to somebody else now: with any policy nothing more may be written.
  void lost(DeviceException cause) {
    failed(cause);
    journal.abort(cause);
  }

  /// Nobody knows what the device lost, and a later flush would not tell: with any policy nothing
  /// may be called durable any more.
  void flushFailed(IOException error) {
    failed(error);
    journal.abort(error);
  }

  void checkWritable() throws FsException {
    if (mountedReadOnly) {
      throw new FsException(
          Errno.EROFS,
          readOnlyReason != null ? readOnlyReason : "the file system is mounted read-only");
    }
    Throwable cause = abortCause();
    if (cause != null) {
      throw new FsException(
          Errno.EROFS,
          "the file system turned read-only after an error: " + cause.getMessage(),
          cause);
    }
  }
}
