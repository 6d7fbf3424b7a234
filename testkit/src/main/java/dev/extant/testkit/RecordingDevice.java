package dev.extant.testkit;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/// Passes everything on and logs each write and flush, with the bytes.
///
/// Time is counted in *ticks*: the begin and the end of every logged operation is one, so that it
/// is known which operations overlapped and what a flush covers. Operations that fail have no end.
/// Reads are not logged. What is discarded becomes zeroes, so that it shows if somebody needed it.
///
/// For a sweep over power cuts put it over an overlay of a base that does not change:
///
/// ```java
/// RecordingDevice device =
///     new RecordingDevice(new OverlayDevice(DelegatingDevice.withoutClose(base)));
/// // work with the device
/// CutStates states = new CutStates(base, device.log());
/// ```
public final class RecordingDevice extends DelegatingDevice {
  /// A logged operation: a flush where `write` is null. `endTick` is [#NEVER] while it runs or if
  /// it failed.
  public record Entry(RecordedWrite write, long beginTick, long endTick) {
    public boolean flush() {
      return write == null;
    }
  }

  /// What happened until some moment, in the order of the begins; `ticks` is that moment.
  public record Log(List<Entry> entries, long ticks) {}

  public static final long NEVER = Long.MAX_VALUE;

  private interface Call {
    void run() throws DeviceException;
  }

  private final ReentrantLock lock = new ReentrantLock();

  /// Guarded by `lock`.
  private final List<Entry> entries = new ArrayList<>();

  /// How many ticks have been; the next begin or end is this one. Guarded by `lock`.
  private long ticks;

  public RecordingDevice(BlockDevice base) {
    super(base);
  }

  public Log log() {
    lock.lock();
    try {
      return new Log(List.copyOf(entries), ticks);
    } finally {
      lock.unlock();
    }
  }

  /// The moment now, e.g. to note when something was acknowledged: a cut at this tick or later must
  /// keep it.
  public long ticks() {
    lock.lock();
    try {
      return ticks;
    } finally {
      lock.unlock();
    }
  }

  public int nrWrites() {
    return (int)
        log().entries().stream()
            .filter(entry -> !entry.flush() && !entry.write().discard())
            .count();
  }

  /// What was discarded, in the order of the begins.
  public List<RecordedWrite> discards() {
    return log().entries().stream()
        .filter(entry -> !entry.flush() && entry.write().discard())
        .map(Entry::write)
        .toList();
  }

  public int nrFlushes() {
    return (int) log().entries().stream().filter(Entry::flush).count();
  }

  @Override
  public void write(long offset, List<MemorySegment> sources, boolean fua) throws DeviceException {
    record(RecordedWrite.of(offset, sources, fua), () -> super.write(offset, sources, fua));
  }

  @Override
  public void writeZeroes(long offset, long lengthBytes) throws DeviceException {
    record(RecordedWrite.zeroes(offset, lengthBytes), () -> super.writeZeroes(offset, lengthBytes));
  }

  @Override
  public void discard(long offset, long lengthBytes) throws DeviceException {
    record(
        RecordedWrite.discard(offset, lengthBytes), () -> super.writeZeroes(offset, lengthBytes));
  }

  @Override
  public void flush() throws DeviceException {
    record(null, super::flush);
  }

  private void record(RecordedWrite write, Call call) throws DeviceException {
    int index = begin(write);
    call.run();
    end(index);
  }

  private int begin(RecordedWrite write) {
    lock.lock();
    try {
      entries.add(new Entry(write, ticks++, NEVER));
      return entries.size() - 1;
    } finally {
      lock.unlock();
    }
  }

  private void end(int index) {
    lock.lock();
    try {
      Entry entry = entries.get(index);
      entries.set(index, new Entry(entry.write(), entry.beginTick(), ticks++));
    } finally {
      lock.unlock();
    }
  }
}
