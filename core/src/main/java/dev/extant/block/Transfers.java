package dev.extant.block;

import dev.extant.block.DeviceException.Kind;
import dev.extant.block.DeviceException.Operation;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// What every device checks before it touches a byte.
public final class Transfers {
  private Transfers() {}

  public static long lengthBytes(List<MemorySegment> segments) {
    long total = 0;
    for (MemorySegment segment : segments) {
      total += segment.byteSize();
    }
    return total;
  }

  /// Throws [Kind#REFUSED] if the range is not within the device.
  public static void checkRange(
      BlockDevice device, Operation operation, long offset, long lengthBytes)
      throws DeviceException {
    if (offset < 0 || lengthBytes < 0 || offset > device.sizeBytes() - lengthBytes) {
      throw new DeviceException(
          Kind.REFUSED,
          operation,
          device.name(),
          Math.max(0, offset),
          lengthBytes,
          offset < 0
              ? "negative offset " + offset
              : "the device has only " + device.sizeBytes() + " bytes",
          null);
    }
  }

  /// [#checkRange], and throws [Kind#REFUSED] if the device is read-only.
  public static void checkWrite(
      BlockDevice device, Operation operation, long offset, long lengthBytes)
      throws DeviceException {
    if (device.readOnly()) {
      throw new DeviceException(
          Kind.REFUSED, operation, device.name(), offset, lengthBytes, "it is read-only", null);
    }
    checkRange(device, operation, offset, lengthBytes);
  }
}
