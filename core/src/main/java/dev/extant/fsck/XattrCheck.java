package dev.extant.fsck;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.ext4.format.Xattr;
import dev.extant.ext4.format.XattrBlock;
import dev.extant.ext4.format.XattrEntry;
import java.lang.foreign.MemorySegment;

/// Checks the extended attributes of inodes: those in the inode and those in a block, which several
/// inodes may share; and what attributes say of the inode: its inline data and its encryption. For
/// any number of threads.
final class XattrCheck {
  private static final int BLOCK_HEADER_SIZE = 32;
  private static final int ENCRYPTION_INDEX = 9;
  private static final byte[] ENCRYPTION_NAME = {'c'};

  private final CheckContext context;
  private final LinkCounts links;
  private final AttributeInodes attributeInodes;
  private final EncryptionPolicies policies;
  private final BlockUsers users = new BlockUsers();

  XattrCheck(CheckContext context, LinkCounts links, EncryptionPolicies policies) {
    this.context = context;
    this.links = links;
    this.attributeInodes = new AttributeInodes(context);
    this.policies = policies;
  }

  /// Checks the attributes of an inode and claims their block. The answer is how many blocks of the
  /// file system the inode's count must contain for them: its block, and what the values fill that
  /// lie in inodes of their own.
  long check(ScannedInode inode) {
    if (unusedReserved(inode)) {
      return 0;
    }
    attributeInodes.checkFlag(inode);
    Attributes attributes = new Attributes(inode, 0, true);
    InlineData.visitAttributes(inode.raw(), attributes);
    if (inode.has(RawInode.EXT4_INLINE_DATA_FL) && !attributes.inlineData) {
      context.report(Problem.INLINE_DATA_MISSING, inode.ino(), 0, "");
    }
    long charged = attributes.charged + checkBlock(inode, attributes);
    if (inode.has(RawInode.EXT4_ENCRYPT_FL) && !attributes.encryption) {
      context.report(Problem.ENCRYPTION_CONTEXT_MISSING, inode.ino(), 0, "");
    }
    return charged;
  }

  /// What lies in a reserved inode that nobody uses means nothing.
  private boolean unusedReserved(ScannedInode inode) {
    return inode.ino() < context.layout().firstInode()
        && inode.ino() != Superblock.ROOT_INO
        && RawInode.linksCount(inode.raw()) == 0
        && !inode.regular();
  }

  /// Compares the counts of users in the blocks, when all inodes were checked.
  void checkUsers() {
    users.forEach(
        (blockNr, count) -> {
          MemorySegment block = context.readBlock(blockNr, 0);
          if (block != null && XattrBlock.hasMagic(block) && XattrBlock.refcount(block) != count) {
            String text = "it is " + XattrBlock.refcount(block) + ", should be " + count;
            context.report(Problem.XATTR_REFCOUNT, 0, blockNr, text);
          }
        });
  }

  private long checkBlock(ScannedInode inode, Attributes inInode) {
    long blockNr = blockNr(inode);
    if (blockNr == 0) {
      return 0;
    }
    boolean first = users.add(blockNr);
    if (first) {
      context.claims().claim(blockNr, 1);
    }
    long charged = context.layout().clusterBlocks();
    MemorySegment block = context.readBlock(blockNr, inode.ino());
    if (block == null) {
      return charged;
    }
    if (!XattrBlock.hasMagic(block)) {
      context.report(Problem.XATTR_BLOCK_MAGIC, inode.ino(), blockNr, "");
      return charged;
    }
    if (first) {
      checkHeader(inode, block, blockNr);
    }
    Attributes attributes = new Attributes(inode, blockNr, first);
    XattrEntries.visit(block, BLOCK_HEADER_SIZE, 0, attributes);
    inInode.encryption |= attributes.encryption;
    return charged + attributes.charged;
  }

  /// The inode's block of attributes, or 0. Without ext_attr no inode has one; the upper half of
  /// the number is there with 64bit only.
  private long blockNr(ScannedInode inode) {
    long blockNr = RawInode.fileAcl(inode.raw());
    if (!context.features().has(Feature.BIT64)) {
      blockNr &= 0xffff_ffffL;
    }
    if (blockNr == 0 || !context.features().has(Feature.EXT_ATTR)) {
      return 0;
    }
    if (!context.layout().validBlock(blockNr)) {
      if (inode.ino() >= context.layout().firstInode() || inode.ino() == Superblock.ROOT_INO) {
        context.report(Problem.XATTR_BLOCK_NUMBER, inode.ino(), 0, "it is " + blockNr);
      }
      return 0;
    }
    return blockNr;
  }

  private void checkHeader(ScannedInode inode, MemorySegment block, long blockNr) {
    if (XattrBlock.blocks(block) != 1) {
      String text = "it is " + XattrBlock.blocks(block);
      context.report(Problem.XATTR_BLOCK_COUNT, inode.ino(), blockNr, text);
    }
    if (!context.checksums().xattrBlockValid(block, blockNr)) {
      context.report(Problem.XATTR_BLOCK_CHECKSUM, inode.ino(), blockNr, "");
    }
  }

  /// What is learnt of one inode from one place of attributes.
  private final class Attributes implements XattrEntries.Visitor {
    private final ScannedInode inode;
    private final long blockNr;

    /// What is wrong with a shared block is told once, and counted once.
    private final boolean first;

    private boolean inlineData;
    private boolean encryption;
    private long charged;

    /// `blockNr` is 0 for the attributes in the inode.
    Attributes(ScannedInode inode, long blockNr, boolean first) {
      this.inode = inode;
      this.blockNr = blockNr;
      this.first = first;
    }

    @Override
    public void corrupt(String why) {
      tell(Problem.XATTR_CORRUPT, why);
    }

    @Override
    public void badValue(Xattr xattr) {
      tell(Problem.XATTR_VALUE_SIZE, "it is " + xattr.valueSize());
    }

    @Override
    public void attribute(Xattr xattr) {
      if (blockNr != 0 && xattr.nameIndex() == 0) {
        tell(Problem.XATTR_CORRUPT, "an entry has no name space");
      }
      if (blockNr == 0 && InlineData.is(xattr)) {
        inlineData = true;
      }
      int valueHash = 0;
      if (xattr.valueInum() != 0) {
        MemorySegment holder = attributeInodes.holder(inode, xattr.valueInum());
        if (!checkHolder(xattr, holder) || AttributeInodes.isLustre(holder, inode)) {
          return;
        }
        charged += attributeInodes.chargedBlocks(xattr.valueSize());
        valueHash = AttributeInodes.valueHash(holder);
      }
      boolean hashed = blockNr != 0 || xattr.hash() != 0;
      if (hashed && !XattrEntry.hashValid(xattr, valueHash)) {
        tell(Problem.XATTR_HASH, "it is " + Integer.toUnsignedString(xattr.hash()));
      }
      if (xattr.named(ENCRYPTION_INDEX, ENCRYPTION_NAME)) {
        checkEncryption(xattr.value());
      }
    }

    private boolean checkHolder(Xattr xattr, MemorySegment holder) {
      String text = "inode " + xattr.valueInum();
      if (holder == null) {
        tell(Problem.XATTR_VALUE_INODE, text);
        return false;
      }
      if (!RawInode.hasFlag(holder, RawInode.EXT4_EA_INODE_FL)) {
        tell(Problem.XATTR_VALUE_INODE_FLAG, text);
        return false;
      }
      if (first) {
        links.addReference(xattr.valueInum());
      }
      if (xattr.valueSize() == 0) {
        tell(Problem.XATTR_VALUE_SIZE, "it is 0, but there is inode " + xattr.valueInum());
      }
      return true;
    }

    private void checkEncryption(byte[] value) {
      if (inode.has(RawInode.EXT4_ENCRYPT_FL)) {
        encryption = true;
        if (!policies.add(inode.ino(), MemorySegment.ofArray(value))) {
          context.report(Problem.ENCRYPTION_CONTEXT_CORRUPT, inode.ino(), 0, "");
        }
      }
    }

    private void tell(Problem problem, String detail) {
      if (first) {
        context.report(problem, inode.ino(), blockNr, detail);
      }
    }
  }
}
