package dev.extant.ext4;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/// fsync and sync: data first and outside any handle, then the transaction that holds the metadata.
final class Syncs {
  private final Mount mount;

  Syncs(Mount mount) {
    this.mount = mount;
  }

  /// Writes the file's dirty pages, then returns the durability of the inode's newest transaction.
  /// Where that one is durable already, only the device's cache is flushed (I6).
  CompletableFuture<Void> fsync(Inode inode, boolean dataOnly) throws IOException {
    mount.files.writeback(inode);
    mount.checkNotAborted();
    long tid = dataOnly ? inode.datasyncTid : inode.syncTid;
    if (tid != 0 && !mount.journal.committed(tid)) {
      return mount.journal.commit(tid);
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
    mount.files.writebackAll();
    FileData.await(mount.journal.commitRunning());
    mount.flush();
  }
}
