package dev.extant.block;

import dev.extant.block.DeviceException.Kind;
import dev.extant.block.DeviceException.Operation;
import java.util.concurrent.atomic.AtomicReference;

/// The rule that no write and no flush succeeds after the first failed one, for every device to
/// use.
///
/// The reason: some systems report a write-back error once and then answer the next flush with
/// success although the data is gone. A refused call ([Kind#REFUSED]) says nothing about the medium
/// and does not trip the latch.
public final class FailureLatch {
  private final AtomicReference<DeviceException> first = new AtomicReference<>();

  /// Throws if an earlier write or flush failed, with that failure as the cause and of its kind.
  /// Call it before and after a flush: a write that fails meanwhile belongs to what the flush must
  /// not confirm.
  public void check(Operation operation, String device, long offset, long lengthBytes)
      throws DeviceException {
    DeviceException cause = first.get();
    if (cause != null) {
      throw new DeviceException(
          cause.kind(),
          operation,
          device,
          offset,
          lengthBytes,
          "an earlier operation failed (" + cause.getMessage() + ")",
          cause);
    }
  }

  /// Keeps the failure if it is the first, and gives it back to be thrown.
  public DeviceException trip(DeviceException failure) {
    if (failure.kind() != Kind.REFUSED) {
      first.compareAndSet(null, failure);
    }
    return failure;
  }
}
