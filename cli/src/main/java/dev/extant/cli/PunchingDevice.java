package dev.extant.cli;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.block.DeviceException.Kind;
import dev.extant.block.DeviceException.Operation;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/// An image file in which discarded parts become holes, by util-linux's `fallocate`: one run of it
/// for each discard.
final class PunchingDevice implements BlockDevice {
  private final BlockDevice file;
  private final Path path;

  PunchingDevice(BlockDevice file, Path path) {
    this.file = file;
    this.path = path;
  }

  @Override
  public void discard(long offset, long lengthBytes) throws DeviceException {
    if (lengthBytes == 0) {
      return;
    }
    ProcessBuilder builder =
        new ProcessBuilder(
            "fallocate",
            "--punch-hole",
            "--offset=" + offset,
            "--length=" + lengthBytes,
            path.toAbsolutePath().toString());
    try {
      Process process = builder.redirectErrorStream(true).start();
      process.getOutputStream().close();
      byte[] output = process.getInputStream().readAllBytes();
      if (process.waitFor() != 0) {
        throw failure(
            offset, lengthBytes, new String(output, StandardCharsets.UTF_8).strip(), null);
      }
    } catch (DeviceException e) {
      throw e;
    } catch (IOException e) {
      throw failure(offset, lengthBytes, "there is no program fallocate (util-linux)", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failure(offset, lengthBytes, "interrupted", e);
    }
  }

  private DeviceException failure(long offset, long lengthBytes, String reason, Throwable cause) {
    return new DeviceException(
        Kind.REFUSED, Operation.DISCARD, name(), offset, lengthBytes, reason, cause);
  }

  @Override
  public String name() {
    return file.name();
  }

  @Override
  public long sizeBytes() {
    return file.sizeBytes();
  }

  @Override
  public int sectorSizeBytes() {
    return file.sectorSizeBytes();
  }

  @Override
  public boolean readOnly() {
    return file.readOnly();
  }

  @Override
  public boolean stablePagesRequired() {
    return file.stablePagesRequired();
  }

  @Override
  public boolean interruptSafe() {
    return file.interruptSafe();
  }

  @Override
  public void read(long offset, MemorySegment target) throws DeviceException {
    file.read(offset, target);
  }

  @Override
  public void write(long offset, List<MemorySegment> sources, boolean fua) throws DeviceException {
    file.write(offset, sources, fua);
  }

  @Override
  public void flush() throws DeviceException {
    file.flush();
  }

  @Override
  public void writeZeroes(long offset, long lengthBytes) throws DeviceException {
    file.writeZeroes(offset, lengthBytes);
  }

  @Override
  public void close() throws DeviceException {
    file.close();
  }
}
