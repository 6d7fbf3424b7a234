package dev.extant.block;

import dev.extant.block.DeviceException.Kind;
import dev.extant.block.DeviceException.Operation;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;

/// The bounded queue in front of a device.
///
/// Definitions: a *request* is one transfer to the device; it holds one of `nrRequests` *slots* of
/// its direction from when it is queued until it is complete. A caller who finds no free slot waits
/// in line; see [Elevator] for the rules of admission, merging and order. A request is *dispatched*
/// by one of the queue's I/O threads, which completes everybody who had a part in it.
///
/// Invariants:
///
/// 1. A waiting call runs on the caller only if the device allows that
///    ([BlockDevice#interruptSafe()], or the caller is an [IoThread]) and nothing is queued before
///    it; it takes a slot all the same. This saves the hand-over to another thread, which costs
///    more than a transfer to fast media.
/// 2. Waits are not ended by an interrupt; it stays pending.
/// 3. A failure reaches every waiter of a merged request. That later writes and flushes fail too is
///    the device's contract ([FailureLatch]).
/// 4. Overlapping transfers have no order: who needs one waits for the first.
///
/// Segments given to a queue must be accessible from any thread (not from a confined arena).
public final class RequestQueue implements AutoCloseable {
  public static final int DEFAULT_NR_REQUESTS = 128;
  public static final int DEFAULT_IO_THREADS = 2;

  private interface DeviceCall {
    void run() throws DeviceException;
  }

  /// A call other than a transfer, to be run by an I/O thread.
  private record Command(
      Operation operation, DeviceCall call, CompletableFuture<Void> completion) {}

  private final BlockDevice device;
  private final int nrIoThreads;
  private final SharedFlush sharedFlush;
  private final ReentrantLock lock = new ReentrantLock();

  /// There is something to dispatch, or the queue was closed.
  private final Condition work = lock.newCondition();

  /// The last command or request ended.
  private final Condition idle = lock.newCondition();

  /// Guarded by `lock`, as all below.
  private final Elevator reads;

  private final Elevator writes;
  private final ArrayDeque<Command> commands = new ArrayDeque<>();
  private final List<Thread> ioThreads = new ArrayList<>();
  private int nrCommandsRunning;
  private boolean preferWrite;
  private boolean closed;

  public RequestQueue(BlockDevice device) {
    this(device, DEFAULT_NR_REQUESTS, DEFAULT_IO_THREADS);
  }

  /// @param nrRequests slots per direction
  public RequestQueue(BlockDevice device, int nrRequests, int nrIoThreads) {
    if (nrRequests < 1 || nrIoThreads < 1) {
      throw new IllegalArgumentException("a queue needs at least one request and one I/O thread");
    }
    this.device = device;
    this.nrIoThreads = nrIoThreads;
    this.reads = new Elevator(nrRequests);
    this.writes = new Elevator(nrRequests);
    this.sharedFlush = new SharedFlush(device.name(), this::flushDevice);
  }

  public BlockDevice device() {
    return device;
  }

  /// Reads and waits. An interrupt of the caller does not end the wait; it stays pending.
  public void read(long offset, MemorySegment target) throws DeviceException {
    Transfers.checkRange(device, Operation.READ, offset, target.byteSize());
    transfer(reads, false, false, new Request.Part(offset, List.of(target)));
  }

  /// Writes and waits.
  public void write(long offset, List<MemorySegment> sources, boolean fua) throws DeviceException {
    Request.Part part = new Request.Part(offset, sources);
    Transfers.checkWrite(device, Operation.WRITE, offset, part.lengthBytes());
    transfer(writes, true, fua, part);
  }

  /// Queues a write. The segments must stay untouched and alive until the future is done. It fails
  /// with a [DeviceException]. What depends on the future may run on an I/O thread and must not
  /// wait for this queue.
  public CompletableFuture<Void> submitWrite(long offset, List<MemorySegment> sources) {
    Request.Part part = new Request.Part(offset, sources);
    submitAll(List.of(part));
    return part.completion();
  }

  /// Starts to hold back this thread's writes; see [Plug].
  public Plug plug() {
    return new Plug(this);
  }

  /// Flushes and waits: covers every write whose completion was seen before this call. Concurrent
  /// callers share flushes.
  public void flush() throws DeviceException {
    sharedFlush.await();
  }

  public void discard(long offset, long lengthBytes) throws DeviceException {
    command(Operation.DISCARD, () -> device.discard(offset, lengthBytes), mayRunOnCaller());
  }

  public void writeZeroes(long offset, long lengthBytes) throws DeviceException {
    command(Operation.WRITE, () -> device.writeZeroes(offset, lengthBytes), mayRunOnCaller());
  }

  /// Waits for what is queued and ends the I/O threads. Does not close the device. Later calls are
  /// refused.
  @Override
  public void close() {
    List<Thread> ending;
    lock.lock();
    try {
      closed = true;
      work.signalAll();
      while (!reads.idle() || !writes.idle() || nrCommandsRunning > 0 || !commands.isEmpty()) {
        idle.awaitUninterruptibly();
      }
      ending = List.copyOf(ioThreads);
      ioThreads.clear();
    } finally {
      lock.unlock();
    }
    joinUninterruptibly(ending);
  }

  /// How many writes are queued and not dispatched; this and the next three for tests.
  int nrQueuedWrites() {
    return underLock(writes::nrQueued);
  }

  /// How many writers wait for a slot.
  int nrWaiting() {
    return underLock(writes::nrWaiting);
  }

  int nrCommands() {
    return underLock(commands::size);
  }

  int nrFlushWaiters() {
    return sharedFlush.nrWaiting();
  }

  private int underLock(IntSupplier figure) {
    lock.lock();
    try {
      return figure.getAsInt();
    } finally {
      lock.unlock();
    }
  }

  /// Queues writes that are in ascending order of offset, neighbours as one request.
  void submitAll(List<Request.Part> parts) {
    Request last = null;
    for (Request.Part part : parts) {
      if (part.lengthBytes() == 0) {
        part.completion().complete(null);
        continue;
      }
      try {
        Transfers.checkWrite(device, Operation.WRITE, part.offset(), part.lengthBytes());
      } catch (DeviceException e) {
        part.completion().completeExceptionally(e);
        continue;
      }
      Request next = new Request(true, false, part);
      if (last != null && last.canAppend(next)) {
        last.append(next);
      } else {
        submit(last);
        last = next;
      }
    }
    submit(last);
  }

  private void submit(Request request) {
    if (request != null) {
      try {
        enqueue(writes, request);
      } catch (DeviceException e) {
        request.parts().forEach(part -> part.completion().completeExceptionally(e));
      }
    }
  }

  private void transfer(Elevator elevator, boolean write, boolean fua, Request.Part part)
      throws DeviceException {
    if (mayRunOnCaller() && !(fua && Thread.currentThread().isVirtual())) {
      lock.lock();
      boolean bypass;
      try {
        checkOpen(write ? Operation.WRITE : Operation.READ);
        bypass = elevator.tryBypass();
      } finally {
        lock.unlock();
      }
      if (bypass) {
        try {
          new Request(write, fua, part).transfer(device);
        } finally {
          release(elevator);
        }
        return;
      }
    }
    enqueue(elevator, new Request(write, fua, part));
    join(part.completion());
  }

  private boolean mayRunOnCaller() {
    return device.interruptSafe() || Thread.currentThread() instanceof IoThread;
  }

  /// A flush may take long, and a virtual thread in it would keep its carrier from all others.
  private void flushDevice() throws DeviceException {
    command(
        Operation.FLUSH, device::flush, mayRunOnCaller() && !Thread.currentThread().isVirtual());
  }

  private void command(Operation operation, DeviceCall call, boolean onCaller)
      throws DeviceException {
    Command command = new Command(operation, call, new CompletableFuture<>());
    lock.lock();
    try {
      checkOpen(operation);
      if (onCaller) {
        nrCommandsRunning++;
      } else {
        commands.add(command);
        wakeIoThread();
      }
    } finally {
      lock.unlock();
    }
    if (!onCaller) {
      join(command.completion());
      return;
    }
    try {
      call.run();
    } finally {
      commandEnded();
    }
  }

  private void enqueue(Elevator elevator, Request request) throws DeviceException {
    CompletableFuture<Void> admission;
    lock.lock();
    try {
      checkOpen(request.operation());
      admission = elevator.offer(request);
      wakeIoThread();
    } finally {
      lock.unlock();
    }
    admission.join();
  }

  private void checkOpen(Operation operation) throws DeviceException {
    if (closed) {
      throw new DeviceException(
          Kind.REFUSED, operation, device.name(), -1, 0, "the queue is closed", null);
    }
  }

  /// The I/O threads start when the first of them is needed. Needs `lock`.
  private void wakeIoThread() {
    while (ioThreads.size() < nrIoThreads) {
      Thread thread =
          new IoThread("extant-io-" + ioThreads.size() + " " + device.name(), this::serve);
      ioThreads.add(thread);
      thread.start();
    }
    work.signal();
  }

  /// The life of an I/O thread.
  private void serve() {
    while (true) {
      Command command = null;
      Request request = null;
      lock.lock();
      try {
        while (command == null && request == null) {
          command = commands.poll();
          if (command != null) {
            nrCommandsRunning++;
          } else {
            request = dispatch();
            if (request == null) {
              if (closed && reads.idle() && writes.idle()) {
                return;
              }
              work.awaitUninterruptibly();
            }
          }
        }
      } finally {
        lock.unlock();
      }
      if (command != null) {
        run(command);
      } else {
        run(request);
      }
    }
  }

  /// Reads and writes take turns while there are both, so that neither starves.
  private Request dispatch() {
    Request request = preferWrite ? writes.dispatch() : reads.dispatch();
    if (request == null) {
      request = preferWrite ? reads.dispatch() : writes.dispatch();
    }
    if (request != null) {
      preferWrite = !request.write();
    }
    return request;
  }

  private void run(Command command) {
    DeviceException failure = null;
    try {
      command.call().run();
    } catch (DeviceException e) {
      failure = e;
    } catch (RuntimeException | Error e) {
      failure = unexpected(command.operation(), e);
    }
    commandEnded();
    complete(command.completion(), failure);
  }

  private void run(Request request) {
    DeviceException failure = null;
    try {
      request.transfer(device);
    } catch (DeviceException e) {
      failure = e;
    } catch (RuntimeException | Error e) {
      failure = unexpected(request.operation(), e);
    }
    release(request.write() ? writes : reads);
    for (Request.Part part : request.parts()) {
      complete(part.completion(), failure);
    }
  }

  private DeviceException unexpected(Operation operation, Throwable thrown) {
    return new DeviceException(
        Kind.UNKNOWN, operation, device.name(), -1, 0, thrown.toString(), thrown);
  }

  private static void complete(CompletableFuture<Void> completion, DeviceException failure) {
    if (failure == null) {
      completion.complete(null);
    } else {
      completion.completeExceptionally(failure);
    }
  }

  private void release(Elevator elevator) {
    lock.lock();
    try {
      if (elevator.release()) {
        wakeIoThread();
      }
      signalIfIdle();
    } finally {
      lock.unlock();
    }
  }

  private void commandEnded() {
    lock.lock();
    try {
      nrCommandsRunning--;
      signalIfIdle();
    } finally {
      lock.unlock();
    }
  }

  private void signalIfIdle() {
    if (closed && reads.idle() && writes.idle()) {
      idle.signalAll();
      work.signalAll();
    }
  }

  private static void join(CompletableFuture<Void> completion) throws DeviceException {
    try {
      completion.join();
    } catch (CompletionException e) {
      DeviceException cause = (DeviceException) e.getCause();
      throw cause;
    }
  }

  private static void joinUninterruptibly(List<Thread> threads) {
    boolean interrupted = false;
    for (Thread thread : threads) {
      while (thread.isAlive()) {
        try {
          thread.join();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
