package dev.extant.testkit;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.block.DeviceException.Kind;
import dev.extant.block.DeviceException.Operation;
import dev.extant.block.FailureLatch;
import dev.extant.block.Transfers;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.locks.ReentrantLock;

/// A device that fails as planned: the n-th call of a kind, or every call that touches a range.
///
/// It keeps the device's contract: after the first failed write or flush all later ones fail. Of a
/// write that fails, any of its sectors may have reached the base; the seed decides. Reads may fail
/// and later succeed.
public final class FaultyDevice extends DelegatingDevice {
  /// A planned failure. `nr` counts the calls of that operation from 1 on, 0 stands for all of
  /// them.
  private record Fault(Operation operation, long nr, long offset, long lengthBytes, Kind kind) {
    boolean hits(Operation called, long calledNr, long calledOffset, long calledLength) {
      return called == operation
          && (nr == 0 || nr == calledNr)
          && calledOffset < offset + lengthBytes
          && offset < calledOffset + Math.max(1, calledLength);
    }
  }

  private final FailureLatch latch = new FailureLatch();
  private final ReentrantLock lock = new ReentrantLock();

  /// Guarded by `lock`, as all below.
  private final SplittableRandom random;

  private final List<Fault> faults = new ArrayList<>();
  private final Map<Operation, Long> nrCalls = new EnumMap<>(Operation.class);
  private long nrFailures;

  public FaultyDevice(BlockDevice base, long seed) {
    super(base);
    this.random = new SplittableRandom(seed);
  }

  /// The n-th call from now (1 is the next) fails. `writeZeroes` counts as a write.
  public FaultyDevice failNth(Operation operation, long n, Kind kind) {
    lock.lock();
    try {
      faults.add(new Fault(operation, nrCalls(operation) + n, 0, Long.MAX_VALUE, kind));
      return this;
    } finally {
      lock.unlock();
    }
  }

  /// Every call that touches the range fails.
  public FaultyDevice failRange(Operation operation, long offset, long lengthBytes, Kind kind) {
    lock.lock();
    try {
      faults.add(new Fault(operation, 0, offset, lengthBytes, kind));
      return this;
    } finally {
      lock.unlock();
    }
  }

  /// No more failures are planned. What failed before still keeps writes and flushes from
  /// succeeding.
  public void clearFaults() {
    lock.lock();
    try {
      faults.clear();
    } finally {
      lock.unlock();
    }
  }

  /// How often a planned failure struck.
  public long nrFailures() {
    lock.lock();
    try {
      return nrFailures;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void read(long offset, MemorySegment target) throws DeviceException {
    DeviceException failure = next(Operation.READ, offset, target.byteSize());
    if (failure != null) {
      throw failure;
    }
    super.read(offset, target);
  }

  @Override
  public void write(long offset, List<MemorySegment> sources, boolean fua) throws DeviceException {
    long lengthBytes = Transfers.lengthBytes(sources);
    Transfers.checkWrite(this, Operation.WRITE, offset, lengthBytes);
    latch.check(Operation.WRITE, name(), offset, lengthBytes);
    DeviceException failure = next(Operation.WRITE, offset, lengthBytes);
    if (failure != null) {
      throw tornFailure(RecordedWrite.of(offset, sources, fua), failure);
    }
    super.write(offset, sources, fua);
  }

  @Override
  public void writeZeroes(long offset, long lengthBytes) throws DeviceException {
    Transfers.checkWrite(this, Operation.WRITE, offset, lengthBytes);
    latch.check(Operation.WRITE, name(), offset, lengthBytes);
    DeviceException failure = next(Operation.WRITE, offset, lengthBytes);
    if (failure != null) {
      throw tornFailure(RecordedWrite.zeroes(offset, lengthBytes), failure);
    }
    super.writeZeroes(offset, lengthBytes);
  }

  @Override
  public void flush() throws DeviceException {
    latch.check(Operation.FLUSH, name(), -1, 0);
    DeviceException failure = next(Operation.FLUSH, -1, 0);
    if (failure != null) {
      throw latch.trip(failure);
    }
    super.flush();
    latch.check(Operation.FLUSH, name(), -1, 0);
  }

  private DeviceException next(Operation operation, long offset, long lengthBytes) {
    lock.lock();
    try {
      long nr = nrCalls.merge(operation, 1L, Long::sum);
      for (Fault fault : faults) {
        if (fault.hits(operation, nr, Math.max(0, offset), lengthBytes)) {
          nrFailures++;
          String reason =
              fault.kind() == Kind.NO_SPACE ? "No space left on device" : "planned failure";
          return new DeviceException(
              fault.kind(), operation, name(), offset, lengthBytes, reason, null);
        }
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  private DeviceException tornFailure(RecordedWrite write, DeviceException failure)
      throws DeviceException {
    latch.trip(failure);
    lock.lock();
    try {
      write.applyTorn(base(), random, random.nextDouble());
    } finally {
      lock.unlock();
    }
    return failure;
  }

  private long nrCalls(Operation operation) {
    return nrCalls.getOrDefault(operation, 0L);
  }
}
