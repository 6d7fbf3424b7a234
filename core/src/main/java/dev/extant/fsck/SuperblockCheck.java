package dev.extant.fsck;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.ext4.format.Superblock;
import java.lang.foreign.MemorySegment;

/// Finds a superblock that can be used, the primary or a backup, and takes the layout from it.
final class SuperblockCheck {
  private static final int MIN_LOG_BLOCK_SIZE = 10;
  private static final int MAX_LOG_BLOCK_SIZE = 16;

  /// A superblock and what it says; `group` is the one whose copy it is.
  record Chosen(MemorySegment sb, FsLayout layout, int group) {}

  private final BlockDevice device;
  private final Findings findings;

  SuperblockCheck(BlockDevice device, Findings findings) {
    this.device = device;
    this.findings = findings;
  }

  Chosen choose() throws CannotCheckException {
    MemorySegment primary = read(Superblock.OFFSET);
    if (primary == null) {
      throw new CannotCheckException(device.name() + " is too small to hold a superblock");
    }
    String reason = null;
    if (Superblock.hasMagic(primary)) {
      SuperblockReader.requireKnown(primary);
    }
    try {
      return new Chosen(primary, new SuperblockReader(primary, device.sizeBytes()).layout(), 0);
    } catch (ImpossibleSuperblockException e) {
      reason = e.getMessage();
    }
    Chosen backup = backup(primary);
    if (backup == null) {
      throw new CannotCheckException(reason);
    }
    SuperblockReader.requireKnown(backup.sb);
    findings.report(
        Problem.SUPERBLOCK_INVALID, 0, 0, reason + "; the backup of group 1 is used instead");
    return backup;
  }

  /// The copy in group 1, wherever that begins: where the primary says, or for any block size.
  private Chosen backup(MemorySegment primary) {
    for (int log = MIN_LOG_BLOCK_SIZE; log <= MAX_LOG_BLOCK_SIZE; log++) {
      long blockSize = 1L << log;
      long first = log == MIN_LOG_BLOCK_SIZE ? 1 : 0;
      Chosen chosen = usable((8 * blockSize + first) * blockSize, blockSize);
      if (chosen == null && Superblock.hasMagic(primary)) {
        long perGroup = Superblock.blocksPerGroup(primary);
        chosen = usable((perGroup + first) * blockSize, blockSize);
      }
      if (chosen != null) {
        return chosen;
      }
    }
    return null;
  }

  private Chosen usable(long offset, long blockSize) {
    MemorySegment sb = read(offset);
    if (sb == null || !Superblock.hasMagic(sb) || Superblock.groupNr(sb) != 1) {
      return null;
    }
    try {
      FsLayout layout = new SuperblockReader(sb, device.sizeBytes()).layout();
      return layout.blockSizeBytes() == blockSize ? new Chosen(sb, layout, 1) : null;
    } catch (ImpossibleSuperblockException e) {
      return null;
    }
  }

  /// Null if there is none to read.
  private MemorySegment read(long offset) {
    if (offset > device.sizeBytes() - Superblock.SIZE) {
      return null;
    }
    MemorySegment sb = MemorySegment.ofArray(new byte[Superblock.SIZE]);
    try {
      device.read(offset, sb);
      return sb;
    } catch (DeviceException e) {
      findings.report(Problem.READ_ERROR, 0, 0, e.getMessage());
      return null;
    }
  }
}
