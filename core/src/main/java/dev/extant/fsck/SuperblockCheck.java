package dev.extant.fsck;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.ext4.format.Superblock;
import java.lang.foreign.MemorySegment;

/// Finds a superblock that can be used, the primary or a backup, and takes the layout from it.
final class SuperblockCheck {
  private final BlockDevice device;
  private final Findings findings;

  SuperblockCheck(BlockDevice device, Findings findings) {
    this.device = device;
    this.findings = findings;
  }

  MemorySegment superblock() throws CannotCheckException {
    MemorySegment sb = MemorySegment.ofArray(new byte[Superblock.SIZE]);
    try {
      if (device.sizeBytes() < Superblock.OFFSET + Superblock.SIZE) {
        throw new CannotCheckException(device.name() + " is too small for a file system");
      }
      device.read(Superblock.OFFSET, sb);
    } catch (DeviceException e) {
      throw new CannotCheckException(e.getMessage());
    }
    if (!Superblock.hasMagic(sb)) {
      throw new CannotCheckException("bad magic number in super-block");
    }
    if (!Superblock.checksumValid(sb)) {
      findings.report(Problem.SUPERBLOCK_CHECKSUM, 0, 0, "");
    }
    return sb;
  }
}
