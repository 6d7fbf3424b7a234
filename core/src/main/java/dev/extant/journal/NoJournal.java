package dev.extant.journal;

import dev.extant.block.RequestQueue;
import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import java.io.IOException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/// The journal of a file system that has none: a "commit" writes all dirty data and metadata home
/// and flushes. Nothing is atomic over a crash; what a commit covered is durable.
///
/// `gate`: handles hold it shared, a commit holds it exclusively while it seals and writes
/// metadata, so that sealers run with no handle open.
public final class NoJournal implements Journal {
  private final RequestQueue queue;
  private final BufferCache buffers;
  private final ReentrantReadWriteLock gate = new ReentrantReadWriteLock(true);
  private final List<CommitListener> listeners = new CopyOnWriteArrayList<>();

  /// Guarded by itself.
  private final Map<Buffer, Sealer> touched = new IdentityHashMap<>();

  /// Guarded by `touched`.
  private final Map<OrderedData, Boolean> ordered = new IdentityHashMap<>();

  /// Held by who writes everything; taken before `gate`.
  private final ReentrantLock writing = new ReentrantLock();

  private volatile long runningTid = 1;

  /// Everything of "transactions" up to this one is durable.
  private volatile long durableTid;

  private final AtomicReference<Throwable> abortCause = new AtomicReference<>();

  public NoJournal(RequestQueue queue, BufferCache buffers) {
    this.queue = queue;
    this.buffers = buffers;
  }

  @Override
  public Handle start(int credits) throws IOException {
    checkAlive();
    gate.readLock().lock();
    return new DirectHandle(runningTid, credits);
  }

  @Override
  public boolean atomic() {
    return false;
  }

  @Override
  public int maxCredits() {
    return Integer.MAX_VALUE;
  }

  @Override
  public CompletableFuture<Void> commit(long tid, long syncer) {
    return written(tid);
  }

  @Override
  public CompletableFuture<Void> commitRunning() {
    return written(runningTid);
  }

  private CompletableFuture<Void> written(long tid) {
    try {
      writeEverything(tid);
      return CompletableFuture.completedFuture(null);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public boolean committed(long tid) {
    return tid <= durableTid;
  }

  /// False: who asks for more than was dirty when a commit began has to flush.
  @Override
  public boolean coversWrites(long tid) {
    return false;
  }

  private void writeEverything(long wantedTid) throws IOException {
    writing.lock();
    try {
      if (!committed(wantedTid)) {
        writeEverything();
      }
    } finally {
      writing.unlock();
    }
  }

  private void writeEverything() throws IOException {
    checkAlive();
    long tid = runningTid;
    try {
      List<OrderedData> data;
      gate.writeLock().lock();
      try {
        data = new ArrayList<>(ordered.keySet());
        ordered.clear();
        runningTid = tid + 1;
      } finally {
        gate.writeLock().unlock();
      }
      for (OrderedData file : data) {
        file.writeOrdered();
      }
      writeMetadata();
      queue.flush();
    } catch (IOException e) {
      abort(e);
      throw e;
    }
    for (CommitListener listener : listeners) {
      listener.committed(tid);
    }
    durableTid = tid;
  }

  /// Handles wait meanwhile: a block that is changed while it is written would go home unsealed.
  private void writeMetadata() throws IOException {
    gate.writeLock().lock();
    try {
      sealAll();
      List<Buffer> dirty = new ArrayList<>(touched.keySet());
      dirty.removeIf(buffer -> !buffer.dirty());
      buffers.writeBack(dirty);
      touched.keySet().forEach(Buffer::close);
      touched.clear();
    } finally {
      gate.writeLock().unlock();
    }
  }

  private void sealAll() {
    for (int rank = 0; rank <= Sealer.LAST_RANK; rank++) {
      for (Map.Entry<Buffer, Sealer> entry : touched.entrySet()) {
        Sealer sealer = entry.getValue();
        if (sealer != null && sealer.rank() == rank) {
          sealer.seal(entry.getKey());
        }
      }
    }
  }

  @Override
  public void addCommitListener(CommitListener listener) {
    listeners.add(listener);
  }

  @Override
  public void abort(Throwable cause) {
    abortCause.compareAndSet(null, cause);
  }

  @Override
  public Throwable abortCause() {
    return abortCause.get();
  }

  @Override
  public void checkpoint() throws IOException {
    writeEverything(runningTid);
  }

  @Override
  public void close() throws IOException {
    if (abortCause() == null) {
      checkpoint();
    }
  }

  private void checkAlive() throws JournalAbortedException {
    Throwable cause = abortCause();
    if (cause != null) {
      throw new JournalAbortedException(cause);
    }
  }

  private final class DirectHandle implements Handle {
    private final long tid;
    private int creditsLeft;

    DirectHandle(long tid, int credits) {
      this.tid = tid;
      this.creditsLeft = credits;
    }

    @Override
    public long tid() {
      return tid;
    }

    @Override
    public void writeAccess(Buffer buffer) {}

    @Override
    public void createAccess(Buffer buffer) {}

    @Override
    public void dirty(Buffer buffer, Sealer sealer) {
      synchronized (touched) {
        if (!touched.containsKey(buffer)) {
          buffer.pin();
          touched.put(buffer, sealer);
        } else if (sealer != null) {
          touched.put(buffer, sealer);
        }
        buffer.dirty(true);
      }
    }

    @Override
    public void forget(long blockNr, Buffer buffer) {
      synchronized (touched) {
        if (buffer != null && touched.containsKey(buffer)) {
          touched.remove(buffer);
          buffer.dirty(false);
          buffer.close();
        }
      }
      buffers.forget(blockNr);
    }

    @Override
    public void orderedData(OrderedData data) {
      synchronized (touched) {
        ordered.put(data, true);
      }
    }

    @Override
    public boolean extend(int credits) {
      creditsLeft += credits;
      return true;
    }

    @Override
    public int creditsLeft() {
      return creditsLeft;
    }

    @Override
    public void close() {
      gate.readLock().unlock();
    }
  }
}
