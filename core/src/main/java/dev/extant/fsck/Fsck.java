package dev.extant.fsck;

import dev.extant.block.BlockDevice;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.Superblock;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// The check: runs the steps that the package's description names. It only reads.
public final class Fsck {
  private final BlockDevice device;
  private final FsckOptions options;
  private final FsckProgress progress;
  private final FindingList findings;

  private Fsck(BlockDevice device, FsckOptions options, FsckProgress progress) {
    this.device = device;
    this.options = options;
    this.progress = progress;
    this.findings = new FindingList(options.maxFindings());
  }

  /// Checks the file system on a device. Whatever its bytes are, the answer is a report.
  public static FsckReport check(BlockDevice device, FsckOptions options, FsckProgress progress) {
    return new Fsck(device, options, progress).check();
  }

  private FsckReport check() {
    try {
      CheckContext context = open();
      checkInodes(context);
      checkRest(context);
      return findings.report(null, FsckCounters.NONE);
    } catch (CannotCheckException e) {
      return findings.report(e.getMessage(), FsckCounters.NONE);
    }
  }

  private CheckContext open() throws CannotCheckException {
    MemorySegment sb = new SuperblockCheck(device, findings).superblock();
    FsLayout layout;
    try {
      Geometry geometry = Superblock.geometry(sb, device.sizeBytes());
      layout =
          new FsLayout(
              geometry.blockSizeBytes(),
              geometry.blocksCount(),
              geometry.firstDataBlock(),
              geometry.blocksPerGroup(),
              0,
              geometry.inodesPerGroup(),
              geometry.inodeSizeBytes(),
              geometry.descriptorSizeBytes(),
              geometry.groupCount(),
              geometry.inodesCount(),
              geometry.firstInode());
    } catch (FsException e) {
      throw new CannotCheckException(e.getMessage());
    }
    BlockReader blocks = new DeviceBlocks(device, layout);
    return new CheckContext(
        sb,
        Superblock.features(sb),
        layout,
        new Checksums(sb),
        blocks,
        new DescriptorTable(layout, index -> layout.firstDataBlock() + 1 + index, blocks, findings),
        findings,
        new BlockClaims(layout),
        new InodeStates(layout),
        options);
  }

  /// Every check that looks at single inodes is one of the visitors.
  private void checkInodes(CheckContext context) throws CannotCheckException {
    List<InodeVisitor> visitors = new ArrayList<>();
    visitors.add(new InodeCheck(context));
    new InodeScan(context, progress, visitors).run();
  }

  /// The checks that need what the scan of the inodes found.
  private void checkRest(CheckContext context) {
    progress.at("bitmaps", context.layout().groupCount(), context.layout().groupCount());
  }
}
