package dev.extant.ext4.format;

import dev.extant.util.Crc16;
import dev.extant.util.Crc32c;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// The metadata checksums of one file system (Linux documentation, "Checksums"): each is sealed and
/// verified here and nowhere else. All but the superblock's own, which needs no seed: see
/// [Superblock#seal].
///
/// Without metadata_csum sealing does nothing and everything is valid, except group descriptors,
/// which uninit_bg gives a crc16. Immutable.
public final class Checksums {
  private static final int EXTENT_HEADER_SIZE = 12;
  private static final int EXTENT_SIZE = 12;
  private static final int EXTENT_HEADER_MAX = 4;
  private static final int DX_ENTRY_SIZE = 8;
  private static final int XATTR_CHECKSUM = 0x10;
  private static final int ORPHAN_TAIL_SIZE = 8;

  private final boolean metadataCsum;
  private final boolean descriptorCrc16;
  private final int seed;
  private final int uuidCrc16;

  public Checksums(MemorySegment superblock) {
    Features features = Superblock.features(superblock);
    this.metadataCsum = features.has(Feature.METADATA_CSUM);
    this.descriptorCrc16 = !metadataCsum && features.has(Feature.UNINIT_BG);
    this.seed =
        features.has(Feature.METADATA_CSUM_SEED)
            ? Superblock.checksumSeed(superblock)
            : Crc32c.update(~0, superblock, 0x68, 16);
    this.uuidCrc16 = Crc16.update(~0, superblock, 0x68, 16);
  }

  /// True if metadata has checksums (metadata_csum): directory blocks and extent nodes have tails.
  public boolean enabled() {
    return metadataCsum;
  }

  /// True if group descriptors have a checksum, so that their UNINIT flags and counts of unused
  /// inodes are meaningful.
  public boolean descriptorsEnabled() {
    return metadataCsum || descriptorCrc16;
  }

  /// The seed that all checksums of the file system start from.
  public int seed() {
    return seed;
  }

  /// The seed for everything that belongs to one inode.
  public int inodeSeed(long ino, int generation) {
    return Crc32c.updateLe32(Crc32c.updateLe32(seed, (int) ino), generation);
  }

  /// Stores the inode's checksum. The segment is exactly the inode.
  public void sealInode(MemorySegment inode, long ino) {
    if (!metadataCsum) {
      return;
    }
    int checksum = inodeChecksum(inode, ino);
    Le.put16(inode, RawInode.I_CHECKSUM_LO, checksum);
    if (hasInodeChecksumHigh(inode)) {
      Le.put16(inode, RawInode.I_CHECKSUM_HI, checksum >>> 16);
    }
  }

  public boolean inodeValid(MemorySegment inode, long ino) {
    if (!metadataCsum) {
      return true;
    }
    int checksum = inodeChecksum(inode, ino);
    int stored = Le.u16(inode, RawInode.I_CHECKSUM_LO);
    if (hasInodeChecksumHigh(inode)) {
      return checksum == (stored | Le.u16(inode, RawInode.I_CHECKSUM_HI) << 16);
    }
    return (checksum & 0xffff) == stored;
  }

  private static boolean hasInodeChecksumHigh(MemorySegment inode) {
    return inode.byteSize() > RawInode.GOOD_OLD_INODE_SIZE
        && RawInode.hasField(inode, RawInode.I_CHECKSUM_HI, 2);
  }

  /// Over the whole inode with the checksum's own fields as zeroes.
  private int inodeChecksum(MemorySegment inode, long ino) {
    int crc = inodeSeed(ino, RawInode.generation(inode));
    crc = Crc32c.update(crc, inode, 0, RawInode.I_CHECKSUM_LO);
    crc = Crc32c.updateZeroes(crc, 2);
    long at = RawInode.I_CHECKSUM_LO + 2;
    if (hasInodeChecksumHigh(inode)) {
      crc = Crc32c.update(crc, inode, at, RawInode.I_CHECKSUM_HI - at);
      crc = Crc32c.updateZeroes(crc, 2);
      at = RawInode.I_CHECKSUM_HI + 2;
    }
    return Crc32c.update(crc, inode, at, inode.byteSize() - at);
  }

  /// Stores the checksum in the descriptor. Call after the bitmaps' checksums are in it.
  public void sealDescriptor(MemorySegment descriptor, int group) {
    if (descriptorsEnabled()) {
      Le.put16(descriptor, GroupDescriptor.CHECKSUM, descriptorChecksum(descriptor, group));
    }
  }

  public boolean descriptorValid(MemorySegment descriptor, int group) {
    return !descriptorsEnabled()
        || Le.u16(descriptor, GroupDescriptor.CHECKSUM) == descriptorChecksum(descriptor, group);
  }

  /// crc32c counts the checksum's own field as zeroes; crc16 leaves it out.
  private int descriptorChecksum(MemorySegment descriptor, int group) {
    long behind = GroupDescriptor.CHECKSUM + 2;
    if (metadataCsum) {
      int crc = Crc32c.updateLe32(seed, group);
      crc = Crc32c.update(crc, descriptor, 0, GroupDescriptor.CHECKSUM);
      crc = Crc32c.updateZeroes(crc, 2);
      return Crc32c.update(crc, descriptor, behind, descriptor.byteSize() - behind) & 0xffff;
    }
    int crc = Crc16.updateLe32(uuidCrc16, group);
    crc = Crc16.update(crc, descriptor, 0, GroupDescriptor.CHECKSUM);
    return Crc16.update(crc, descriptor, behind, descriptor.byteSize() - behind);
  }

  /// Stores the checksum of the group's block bitmap in its descriptor.
  public void sealBlockBitmap(MemorySegment descriptor, MemorySegment bitmap, Geometry geometry) {
    if (metadataCsum) {
      GroupDescriptor.blockBitmapChecksum(
          descriptor, Crc32c.update(seed, bitmap, 0, geometry.clustersPerGroup() / 8));
    }
  }

  public boolean blockBitmapValid(
      MemorySegment descriptor, MemorySegment bitmap, Geometry geometry) {
    return !metadataCsum
        || bitmapMatches(
            descriptor,
            GroupDescriptor.blockBitmapChecksum(descriptor),
            Crc32c.update(seed, bitmap, 0, geometry.clustersPerGroup() / 8));
  }

  /// Stores the checksum of the group's inode bitmap in its descriptor.
  public void sealInodeBitmap(MemorySegment descriptor, MemorySegment bitmap, Geometry geometry) {
    if (metadataCsum) {
      GroupDescriptor.inodeBitmapChecksum(
          descriptor, Crc32c.update(seed, bitmap, 0, geometry.inodesPerGroup() / 8));
    }
  }

  public boolean inodeBitmapValid(
      MemorySegment descriptor, MemorySegment bitmap, Geometry geometry) {
    return !metadataCsum
        || bitmapMatches(
            descriptor,
            GroupDescriptor.inodeBitmapChecksum(descriptor),
            Crc32c.update(seed, bitmap, 0, geometry.inodesPerGroup() / 8));
  }

  private static boolean bitmapMatches(MemorySegment descriptor, int stored, int computed) {
    int mask = GroupDescriptor.hasHighHalves(descriptor) ? ~0 : 0xffff;
    return stored == (computed & mask);
  }

  /// Stores the checksum behind the entries of an extent node that fills a block. eh_max must be
  /// right.
  public void sealExtentBlock(MemorySegment block, int inodeSeed) {
    if (metadataCsum) {
      long tail = extentTail(block);
      Le.put32(block, tail, Crc32c.update(inodeSeed, block, 0, tail));
    }
  }

  /// False too if eh_max leaves no room for the checksum.
  public boolean extentBlockValid(MemorySegment block, int inodeSeed) {
    if (!metadataCsum) {
      return true;
    }
    long tail = extentTail(block);
    return tail + 4 <= block.byteSize()
        && Le.i32(block, tail) == Crc32c.update(inodeSeed, block, 0, tail);
  }

  private static long extentTail(MemorySegment block) {
    return EXTENT_HEADER_SIZE + (long) EXTENT_SIZE * Le.u16(block, EXTENT_HEADER_MAX);
  }

  /// The checksum of a directory leaf: over everything before its 12-byte tail.
  public int directoryLeaf(MemorySegment block, int inodeSeed, int tailOffset) {
    return Crc32c.update(inodeSeed, block, 0, tailOffset);
  }

  /// The checksum of an index node: over everything up to the last of its `count` entries (of 8
  /// bytes, the first of them being count and limit) and over the tail's first word. `tailOffset`
  /// is where the entries would end if all `limit` were in use.
  public int directoryIndex(
      MemorySegment block, int inodeSeed, int entriesOffset, int count, int tailOffset) {
    int crc = Crc32c.update(inodeSeed, block, 0, entriesOffset + (long) DX_ENTRY_SIZE * count);
    crc = Crc32c.update(crc, block, tailOffset, 4);
    return Crc32c.updateZeroes(crc, 4);
  }

  /// Stores the checksum in the header of a block of extended attributes.
  public void sealXattrBlock(MemorySegment block, long blockNr) {
    if (metadataCsum) {
      Le.put32(block, XATTR_CHECKSUM, xattrChecksum(block, blockNr));
    }
  }

  public boolean xattrBlockValid(MemorySegment block, long blockNr) {
    return !metadataCsum || Le.i32(block, XATTR_CHECKSUM) == xattrChecksum(block, blockNr);
  }

  private int xattrChecksum(MemorySegment block, long blockNr) {
    int crc = Crc32c.updateLe64(seed, blockNr);
    crc = Crc32c.update(crc, block, 0, XATTR_CHECKSUM);
    crc = Crc32c.updateZeroes(crc, 4);
    long at = XATTR_CHECKSUM + 4;
    return Crc32c.update(crc, block, at, block.byteSize() - at);
  }

  /// The checksum of the value of an extended attribute that is in an inode of its own. It is there
  /// with or without metadata_csum.
  public int xattrValueHash(byte[] value) {
    return Crc32c.update(seed, value);
  }

  /// Stores the checksum at the end of a block of the orphan file.
  public void sealOrphanBlock(MemorySegment block, long blockNr, int inodeSeed) {
    if (metadataCsum) {
      Le.put32(block, block.byteSize() - 4, orphanChecksum(block, blockNr, inodeSeed));
    }
  }

  public boolean orphanBlockValid(MemorySegment block, long blockNr, int inodeSeed) {
    return !metadataCsum
        || Le.i32(block, block.byteSize() - 4) == orphanChecksum(block, blockNr, inodeSeed);
  }

  /// Stores the checksum of the block that multiple mount protection uses, such that nothing behind
  /// the first 512 bytes changes from one sealing to the next: a power cut that tears a write
  /// leaves the old block or the new one.
  public void sealMmpBlock(MemorySegment block) {
    if (metadataCsum) {
      Le.put32(block, MmpBlock.BALANCE, 0);
      int difference = Le.i32(block, MmpBlock.CHECKSUM) ^ mmpChecksum(block);
      int gap = MmpBlock.CHECKSUM - MmpBlock.BALANCE;
      Le.put32(block, MmpBlock.BALANCE, Crc32c.beforeZeroes(difference, gap));
    }
  }

  public boolean mmpBlockValid(MemorySegment block) {
    return !metadataCsum || Le.i32(block, MmpBlock.CHECKSUM) == mmpChecksum(block);
  }

  private int mmpChecksum(MemorySegment block) {
    return Crc32c.update(seed, block, 0, MmpBlock.CHECKSUM);
  }

  private static int orphanChecksum(MemorySegment block, long blockNr, int inodeSeed) {
    int crc = Crc32c.updateLe64(inodeSeed, blockNr);
    return Crc32c.update(crc, block, 0, block.byteSize() - ORPHAN_TAIL_SIZE);
  }
}
