package dev.extant.ext4;

import dev.extant.journal.Handle;
import dev.extant.util.DurabilityFuture;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/// fsync and sync: data first and outside any handle, then the transaction that holds the metadata.
final class Syncs {
  private final Mount mount;

  /// The newest transaction that renamed a directory: everything below it got another path, which
  /// no inode there knows of.
  private final AtomicLong directoryRenamedTid = new AtomicLong();

  Syncs(Mount mount) {
    this.mount = mount;
  }

  /// Within the handle that renames the inode, so that whatever is below can be found after a crash
  /// by the path that it has now.
  void renamed(Handle handle, Inode inode) {
    if (inode.isDirectory()) {
      directoryRenamedTid.accumulateAndGet(handle.tid(), Math::max);
    }
  }

  /// Writes the file's dirty pages, then returns the durability of the inode's newest transaction,
  /// and of the names on the way to it. Where that one is durable already, or its flush was before
  /// the pages arrived, the device's cache is flushed (I6).
  CompletableFuture<Void> fsync(Inode inode, boolean dataOnly) throws IOException {
    try {
      mount.files.writeback(inode);
    } catch (IOException e) {
      mount.health.writebackFailed(e);
      throw e;
    }
    mount.checkNotAborted();
    long inodeTid = dataOnly ? inode.datasyncTid : inode.syncTid;
    long tid = Math.max(inodeTid, directoryRenamedTid.get());
    if (tid != 0 && !mount.journal.committed(tid)) {
      boolean covered = mount.journal.coversWrites(tid);
      CompletableFuture<Void> durable = mount.journal.commit(tid);
      if (covered) {
        return durable;
      }
      DurabilityFuture.await(durable);
    }
    if (!mount.health.readOnly()) {
      mount.flush();
    }
    return CompletableFuture.completedFuture(null);
  }

  /// Everything done before the call becomes durable.
  void sync() throws IOException {
    if (mount.health.readOnly()) {
      mount.checkNotAborted();
      return;
    }
    try {
      mount.files.writebackAll();
    } catch (IOException e) {
      mount.health.writebackFailed(e);
      throw e;
    }
    DurabilityFuture.await(mount.journal.commitRunning());
    mount.flush();
  }
}
