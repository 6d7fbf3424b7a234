package dev.extant.fsck;

import dev.extant.block.BlockDevice;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Superblock;
import java.lang.foreign.MemorySegment;
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
      new FeatureCheck(context).run(device);
      new DescriptorCheck(context).run();
      new MmpCheck(context).run();
      checkInodes(context);
      return findings.report(null, checkRest(context));
    } catch (CannotCheckException e) {
      return findings.report(e.getMessage(), FsckCounters.NONE);
    }
  }

  private CheckContext open() throws CannotCheckException {
    SuperblockCheck.Chosen chosen = new SuperblockCheck(device, findings).choose();
    FsLayout layout = chosen.layout();
    MemorySegment sb = chosen.sb();
    CheckContext primary = context(sb, layout, 0);
    if (DescriptorPlaces.allPossible(primary, primary.groups())) {
      return primary;
    }
    if (layout.groupCount() > 1 && primary.front().hasSuperblock(1)) {
      CheckContext backup = context(sb, layout, 1);
      if (DescriptorPlaces.allPossible(backup, backup.groups())) {
        findings.report(Problem.DESCRIPTORS_INVALID, 0, 0, "those of group 1 are used instead");
        return backup;
      }
    }
    return primary;
  }

  /// With the copy of the descriptors that a group holds.
  private CheckContext context(MemorySegment sb, FsLayout layout, int copy) {
    BlockReader blocks = new DeviceBlocks(device, layout);
    GroupFront front = new GroupFront(sb, layout);
    Checksums checksums = new Checksums(sb);
    return new CheckContext(
        sb,
        Superblock.features(sb),
        layout,
        checksums,
        blocks,
        front,
        new DescriptorTable(layout, front, blocks, findings, checksums.descriptorsEnabled(), copy),
        findings,
        BlockClaims.ofClusters(layout),
        BlockClaims.ofBlocks(layout),
        new WalkBudget(layout),
        new InodeStates(layout),
        options);
  }

  /// Every check that looks at single inodes is one of the visitors; then come those that need what
  /// all of them have seen.
  private void checkInodes(CheckContext context) throws CannotCheckException {
    LinkCounts links = new LinkCounts(context);
    EncryptionPolicies policies = new EncryptionPolicies();
    XattrCheck xattrs = new XattrCheck(context, links, policies);
    DirectoryCheck directories = new DirectoryCheck(context, links, policies);
    QuotaCheck quotas = new QuotaCheck(context);
    InodeCheck check = new InodeCheck(context, xattrs::check);
    new InodeScan(context, progress, check, List.of(directories, links, quotas)).run();
    xattrs.checkUsers();
    directories.run(progress);
    links.check();
    quotas.run();
    new OrphanCheck(context).run();
    new JournalCheck(context).run();
  }

  /// The checks that need what the scan of the inodes found.
  private FsckCounters checkRest(CheckContext context) throws CannotCheckException {
    new SharedBlocks(context, progress).run();
    BitmapCheck bitmaps = new BitmapCheck(context, progress);
    bitmaps.run();
    return bitmaps.counters();
  }
}
