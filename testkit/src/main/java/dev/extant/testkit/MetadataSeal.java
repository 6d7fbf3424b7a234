package dev.extant.testkit;

import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.DirTail;
import dev.extant.ext4.format.DxEntries;
import dev.extant.ext4.format.DxNode;
import dev.extant.ext4.format.DxRoot;
import dev.extant.ext4.format.DxTail;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.format.BlockHeader;
import dev.extant.journal.format.JournalSuperblock;
import dev.extant.util.Be;
import dev.extant.util.Crc32c;
import java.lang.foreign.MemorySegment;

/// Makes the checksums of changed metadata right again, so that what reads it does not stop there.
/// What cannot be sealed, since the change makes its checksum lie outside, stays as it is.
final class MetadataSeal {
  private static final int COMMIT_CHECKSUM = 16;

  private final MetadataMap map;
  private final Checksums checksums;

  MetadataSeal(MetadataMap map) {
    this.map = map;
    this.checksums = map.checksums();
  }

  void seal(MemorySegment image, MetadataMap.Place place) {
    try {
      sealWhatFits(image, place);
    } catch (IndexOutOfBoundsException noPlace) {
      // A number that says where the checksum is leads outside.
    }
  }

  private void sealWhatFits(MemorySegment image, MetadataMap.Place place) {
    MemorySegment bytes = image.asSlice(place.offset(), place.length());
    switch (place.kind()) {
      case SUPERBLOCK -> Superblock.seal(bytes);
      case DESCRIPTOR -> checksums.sealDescriptor(bytes, (int) place.number());
      case BLOCK_BITMAP, INODE_BITMAP -> sealBitmap(image, bytes, place);
      case INODE -> checksums.sealInode(bytes, place.number());
      case EXTENT_NODE -> checksums.sealExtentBlock(bytes, inodeSeed(image, place));
      case DIRECTORY_LEAF -> sealLeaf(bytes, inodeSeed(image, place));
      case DIRECTORY_INDEX -> sealIndex(bytes, inodeSeed(image, place));
      case ATTRIBUTES -> checksums.sealXattrBlock(bytes, place.number());
      case ORPHANS -> checksums.sealOrphanBlock(bytes, place.number(), inodeSeed(image, place));
      case JOURNAL_SUPERBLOCK -> JournalSuperblock.seal(bytes);
      case LOG -> sealLog(image, bytes);
      case MMP -> checksums.sealMmpBlock(bytes.asSlice(0, 1024));
      case POINTERS -> {}
    }
  }

  private void sealBitmap(MemorySegment image, MemorySegment bitmap, MetadataMap.Place place) {
    MemorySegment descriptor = map.descriptor(image, (int) place.number());
    if (place.kind() == MetadataMap.Kind.BLOCK_BITMAP) {
      checksums.sealBlockBitmap(descriptor, bitmap, map.geometry());
    } else {
      checksums.sealInodeBitmap(descriptor, bitmap, map.geometry());
    }
    checksums.sealDescriptor(descriptor, (int) place.number());
  }

  private int inodeSeed(MemorySegment image, MetadataMap.Place place) {
    for (MetadataMap.Place inode : map.places(MetadataMap.Kind.INODE)) {
      if (inode.number() == place.ino()) {
        MemorySegment bytes = image.asSlice(inode.offset(), inode.length());
        return checksums.inodeSeed(place.ino(), RawInode.generation(bytes));
      }
    }
    throw new IllegalArgumentException(place + " belongs to no inode");
  }

  private void sealLeaf(MemorySegment block, int seed) {
    if (checksums.enabled() && DirTail.present(block)) {
      DirTail.checksum(block, checksums.directoryLeaf(block, seed, DirTail.offset(block)));
    }
  }

  private void sealIndex(MemorySegment block, int seed) {
    if (checksums.enabled()) {
      int base = DxNode.looksLikeNode(block) ? DxNode.ENTRIES : DxRoot.ENTRIES;
      int count = DxEntries.count(block, base);
      int tail = DxTail.offset(block, base);
      DxTail.checksum(block, base, checksums.directoryIndex(block, seed, base, count, tail));
    }
  }

  /// Of the copies in the log the checksums in the tags are not sealed; logs without checksums have
  /// none.
  private void sealLog(MemorySegment image, MemorySegment block) {
    MetadataMap.Place place = map.places(MetadataMap.Kind.JOURNAL_SUPERBLOCK).getFirst();
    MemorySegment superblock = image.asSlice(place.offset(), place.length());
    long with = JournalSuperblock.INCOMPAT_CSUM_V2 | JournalSuperblock.INCOMPAT_CSUM_V3;
    if ((JournalSuperblock.incompat(superblock) & with) == 0) {
      return;
    }
    long at =
        BlockHeader.type(block) == BlockHeader.COMMIT ? COMMIT_CHECKSUM : block.byteSize() - 4;
    Be.put32(block, at, 0);
    byte[] uuid = JournalSuperblock.uuid(superblock);
    int seed = Crc32c.update(~0, MemorySegment.ofArray(uuid), 0, uuid.length);
    Be.put32(block, at, Crc32c.update(seed, block, 0, block.byteSize()));
  }
}
