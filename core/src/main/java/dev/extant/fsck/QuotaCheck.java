package dev.extant.fsck;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// Checks the files of quotas, and what they say is in use against the inodes that were seen.
final class QuotaCheck implements InodeVisitor {
  private static final int USERS = 0;
  private static final int GROUPS = 1;
  private static final int I_PROJID = 0x9C;
  private static final int SECTOR = 512;

  private final CheckContext context;
  private final QuotaUsage[] usages = new QuotaUsage[Superblock.QUOTA_TYPES];

  QuotaCheck(CheckContext context) {
    this.context = context;
    for (int kind = 0; kind < usages.length; kind++) {
      usages[kind] = ino(kind) == 0 ? null : new QuotaUsage();
    }
  }

  /// 0 if there is no such quota.
  private long ino(int kind) {
    return context.has(Feature.QUOTA) ? Superblock.quotaInode(context.superblock(), kind) : 0;
  }

  @Override
  public void visit(ScannedInode inode) {
    boolean counts =
        inode.ino() == Superblock.ROOT_INO || inode.ino() >= context.layout().firstInode();
    for (int kind = 0; kind < usages.length; kind++) {
      if (usages[kind] != null && counts && !SpecialInodes.isHidden(context, inode.ino())) {
        usages[kind].add(owner(inode.raw(), kind), bytes(inode));
      }
    }
  }

  private static long owner(MemorySegment raw, int kind) {
    return switch (kind) {
      case USERS -> RawInode.uid(raw);
      case GROUPS -> RawInode.gid(raw);
      default -> RawInode.hasField(raw, I_PROJID, 4) ? Le.u32(raw, I_PROJID) : 0;
    };
  }

  private long bytes(ScannedInode inode) {
    boolean inBlocks = context.has(Feature.HUGE_FILE) && inode.has(RawInode.EXT4_HUGE_FILE_FL);
    return RawInode.blocks(inode.raw()) * (inBlocks ? context.layout().blockSizeBytes() : SECTOR);
  }

  /// When all inodes were seen.
  void run() {
    for (int kind = 0; kind < usages.length; kind++) {
      if (usages[kind] != null) {
        check(kind, ino(kind));
      }
    }
  }

  private void check(int kind, long ino) {
    MemorySegment raw = ino > Superblock.ROOT_INO ? context.readInode(ino) : null;
    ScannedInode inode = raw == null ? null : new ScannedInode(ino, raw, true);
    if (inode == null
        || !inode.regular()
        || RawInode.linksCount(raw) == 0
        || RawInode.size(raw) <= 0) {
      context.report(Problem.QUOTA_INODE, ino, 0, "type " + kind);
      return;
    }
    Comparison comparison = new Comparison(ino, usages[kind]);
    new QuotaFile(context, inode, comparison).read(kind);
    if (!comparison.unread && comparison.met != usages[kind].size()) {
      String text = comparison.met + " of " + usages[kind].size() + " owners have an entry";
      context.report(Problem.QUOTA_USAGE, ino, 0, text);
    }
  }

  /// The entries of a file against what is in use.
  private final class Comparison implements QuotaFile.Visitor {
    private final long ino;
    private final QuotaUsage usage;
    private int met;
    private boolean unread;

    Comparison(long ino, QuotaUsage usage) {
      this.ino = ino;
      this.usage = usage;
    }

    @Override
    public void entry(long id, long bytes, long inodes) {
      met += usage.inodes(id) > 0 ? 1 : 0;
      if (bytes != usage.bytes(id) || inodes != usage.inodes(id)) {
        String text =
            "id %d has %d bytes and %d inodes, should have %d and %d"
                .formatted(id, bytes, inodes, usage.bytes(id), usage.inodes(id));
        context.report(Problem.QUOTA_USAGE, ino, 0, text);
      }
    }

    @Override
    public void bad(long magic) {
      unread = true;
      context.report(Problem.QUOTA_MAGIC, ino, 0, "it is 0x" + Long.toHexString(magic));
    }

    @Override
    public void corrupt(String why) {
      unread = true;
      context.report(Problem.QUOTA_FILE, ino, 0, why);
    }
  }
}
