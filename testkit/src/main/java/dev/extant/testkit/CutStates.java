package dev.extant.testkit;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.block.OverlayDevice;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/// What may be on a disk after a power cut in the middle of recorded operations.
///
/// The fault model, for a cut at tick *t* (the first *t* ticks of the log have happened):
///
/// 1. A write that had not begun left no trace.
/// 2. A write is *settled* if it ended before the begin of a flush that ended before the cut, or if
///    it was a FUA write that ended before the cut. Settled bytes are there, unless a later write
///    replaced them.
/// 3. Of every other write that had begun, each sector (512 bytes on most devices) is there or not,
///    independently: writes may be lost, torn, and reordered against each other. A sector itself is
///    never torn, and bytes beside those written never change.
/// 4. Of two writes to one sector the later one wins if both are there.
///
/// A seed chooses one such state; the odds of survival are drawn per state, so that "all lost",
/// "all there" and everything between come up. Memory: the log, and per state the pages that the
/// log touched.
public final class CutStates {
  private final BlockDevice base;
  private final RecordingDevice.Log log;

  /// @param base the device as it was before the first entry of the log; never changed
  public CutStates(BlockDevice base, RecordingDevice.Log log) {
    this.base = base;
    this.log = log;
  }

  /// The number of possible cuts is one more: 0 is before the first operation, this is after the
  /// last.
  public long lastTick() {
    return log.ticks();
  }

  /// The state after a cut at the given tick; the seed chooses what survived. It is a device over
  /// the base that may be written to and closed; the base stays as it is. See [Images#copy] for an
  /// image file of it.
  public BlockDevice materialise(long cutTick, long seed) throws DeviceException {
    RandomGenerator random = new SplittableRandom(seed * 0x9E3779B97F4A7C15L + cutTick);
    Survival survival = Survival.draw(random);
    BlockDevice state = new OverlayDevice(DelegatingDevice.withoutClose(base));
    long settledBefore = beginOfLastFlush(cutTick);
    for (RecordingDevice.Entry entry : log.entries()) {
      if (entry.beginTick() >= cutTick) {
        break;
      }
      if (entry.flush()) {
        continue;
      }
      boolean ended = entry.endTick() < cutTick;
      if (entry.endTick() < settledBefore || ended && entry.write().fua()) {
        entry.write().applyTo(state);
      } else {
        survival.apply(entry.write(), state, random);
      }
    }
    return state;
  }

  /// The latest begin of a flush that had ended; all writes that ended before it are settled.
  private long beginOfLastFlush(long cutTick) {
    List<RecordingDevice.Entry> entries = log.entries();
    for (int i = entries.size() - 1; i >= 0; i--) {
      RecordingDevice.Entry entry = entries.get(i);
      if (entry.flush() && entry.endTick() < cutTick) {
        return entry.beginTick();
      }
    }
    return 0;
  }
}
