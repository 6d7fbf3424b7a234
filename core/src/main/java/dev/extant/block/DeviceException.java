package dev.extant.block;

import java.io.IOException;

/// A failed device operation: says which device, which operation, where and how much.
public final class DeviceException extends IOException {
  private static final long serialVersionUID = 1L;

  /// What kind of failure it was; decides what the layers above may still do.
  public enum Kind {
    /// Another owner took the device over: write nothing more, not even an error field.
    FENCED,
    /// The medium under the device is full.
    NO_SPACE,
    /// Read-only device, or outside its size: the call was wrong, the device is well.
    REFUSED,
    /// Anything else. A write that failed this way may have reached the medium or not.
    UNKNOWN
  }

  /// What was tried.
  public enum Operation {
    OPEN,
    READ,
    WRITE,
    FLUSH,
    DISCARD,
    CLOSE
  }

  private final Kind kind;
  private final Operation operation;

  public DeviceException(
      Kind kind,
      Operation operation,
      String device,
      long offset,
      long lengthBytes,
      String reason,
      Throwable cause) {
    super(describe(operation, device, offset, lengthBytes, reason), cause);
    this.kind = kind;
    this.operation = operation;
  }

  private static String describe(
      Operation operation, String device, long offset, long lengthBytes, String reason) {
    String verb = operation.name().toLowerCase(java.util.Locale.ROOT);
    return offset < 0
        ? device + ": " + verb + " failed: " + reason
        : device
            + ": "
            + verb
            + " of "
            + lengthBytes
            + " bytes at offset "
            + offset
            + " failed: "
            + reason;
  }

  public Kind kind() {
    return kind;
  }

  public Operation operation() {
    return operation;
  }
}
