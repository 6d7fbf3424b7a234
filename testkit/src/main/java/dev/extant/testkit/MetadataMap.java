package dev.extant.testkit;

import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.DirTail;
import dev.extant.ext4.format.DxNode;
import dev.extant.ext4.format.DxRoot;
import dev.extant.ext4.format.Extent;
import dev.extant.ext4.format.ExtentHeader;
import dev.extant.ext4.format.ExtentIndex;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupDescriptor;
import dev.extant.ext4.format.GroupLayout;
import dev.extant.ext4.format.PointerShape;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.format.BlockHeader;
import dev.extant.util.Le;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// Where the metadata of an undamaged image in memory is, by kind. It takes shortcuts that only an
/// undamaged image allows.
public final class MetadataMap {
  /// Kinds of structures, which a checksum of its own kind protects.
  public enum Kind {
    SUPERBLOCK,
    DESCRIPTOR,
    BLOCK_BITMAP,
    INODE_BITMAP,
    INODE,
    EXTENT_NODE,
    POINTERS,
    DIRECTORY_LEAF,
    DIRECTORY_INDEX,
    ATTRIBUTES,
    ORPHANS,
    JOURNAL_SUPERBLOCK,
    LOG,
    MMP
  }

  /// Bytes of an image. `number` is that of the inode, group or block, and `ino` that of the inode
  /// it belongs to, or 0.
  public record Place(Kind kind, long offset, int length, long number, long ino) {}

  private static final int FAST_LINK_BYTES = 60;
  private static final int MAX_LOG_BLOCKS = 200;

  private final MemorySegment image;
  private final MemorySegment superblock;
  private final Geometry geometry;
  private final Features features;
  private final GroupLayout layout;
  private final Map<Kind, List<Place>> places = new EnumMap<>(Kind.class);

  private MetadataMap(MemorySegment image) throws FsException {
    this.image = image;
    this.superblock = image.asSlice(Superblock.OFFSET, Superblock.SIZE);
    this.geometry = Superblock.geometry(superblock, image.byteSize());
    this.features = Superblock.features(superblock);
    this.layout = new GroupLayout(superblock, geometry);
  }

  /// Looks at a whole image.
  public static MetadataMap of(MemorySegment image) throws FsException {
    MetadataMap map = new MetadataMap(image);
    map.find();
    return map;
  }

  /// The kinds that the image has.
  public List<Kind> kinds() {
    return List.copyOf(places.keySet());
  }

  public List<Place> places(Kind kind) {
    return places.get(kind);
  }

  public int blockSizeBytes() {
    return geometry.blockSizeBytes();
  }

  Geometry geometry() {
    return geometry;
  }

  /// The descriptor of a group in an image with this layout.
  MemorySegment descriptor(MemorySegment of, int group) {
    long offset =
        layout.descriptorBlockNr(group) * geometry.blockSizeBytes()
            + layout.descriptorOffset(group);
    return of.asSlice(offset, geometry.descriptorSizeBytes());
  }

  private void add(Kind kind, long offset, int length, long number, long ino) {
    places
        .computeIfAbsent(kind, _ -> new ArrayList<>())
        .add(new Place(kind, offset, length, number, ino));
  }

  private void addBlock(Kind kind, long blockNr, long ino) {
    int size = geometry.blockSizeBytes();
    add(kind, blockNr * size, size, blockNr, ino);
  }

  private MemorySegment block(long blockNr) {
    return image.asSlice(blockNr * geometry.blockSizeBytes(), geometry.blockSizeBytes());
  }

  private void find() {
    add(Kind.SUPERBLOCK, Superblock.OFFSET, Superblock.SIZE, 0, 0);
    if (features.has(Feature.MMP)) {
      addBlock(Kind.MMP, Superblock.mmpBlock(superblock), 0);
    }
    for (int group = 0; group < geometry.groupCount(); group++) {
      MemorySegment descriptor = descriptor(image, group);
      long at = descriptor.address() - image.address();
      add(Kind.DESCRIPTOR, at, (int) descriptor.byteSize(), group, 0);
      int size = geometry.blockSizeBytes();
      long blockBitmap = GroupDescriptor.blockBitmap(descriptor);
      add(Kind.BLOCK_BITMAP, blockBitmap * size, size, group, 0);
      add(Kind.INODE_BITMAP, GroupDescriptor.inodeBitmap(descriptor) * size, size, group, 0);
      if (!GroupDescriptor.hasFlag(descriptor, GroupDescriptor.INODE_UNINIT)) {
        findInodes(group, GroupDescriptor.inodeTable(descriptor) * size);
      }
    }
  }

  private void findInodes(int group, long table) {
    int size = geometry.inodeSizeBytes();
    for (int index = 0; index < geometry.inodesPerGroup(); index++) {
      MemorySegment inode = image.asSlice(table + (long) index * size, size);
      long ino = (long) group * geometry.inodesPerGroup() + index + 1;
      if (RawInode.mode(inode) != 0) {
        add(Kind.INODE, table + (long) index * size, size, ino, ino);
        findBlocks(inode, ino);
        long attributes = RawInode.fileAcl(inode);
        if (attributes != 0) {
          addBlock(Kind.ATTRIBUTES, attributes, ino);
        }
      }
    }
  }

  private void findBlocks(MemorySegment inode, long ino) {
    int type = RawInode.mode(inode) >> 12;
    boolean directory = type == 4;
    if (type != 8 && type != 10 && !directory
        || RawInode.hasFlag(inode, RawInode.EXT4_INLINE_DATA_FL)
        || type == 10 && RawInode.size(inode) < FAST_LINK_BYTES) {
      return;
    }
    List<Long> data = new ArrayList<>();
    MemorySegment root = inode.asSlice(RawInode.I_BLOCK, RawInode.I_BLOCK_SIZE);
    if (RawInode.hasFlag(inode, RawInode.EXT4_EXTENTS_FL)) {
      findExtents(root, ino, data);
    } else {
      for (int i = 0; i < PointerShape.DIRECT + PointerShape.MAX_DEPTH; i++) {
        findPointers(Le.u32(root, i * 4L), Math.max(0, i - PointerShape.DIRECT + 1), ino, data);
      }
    }
    if (ino == Superblock.journalInode(superblock)) {
      addLog(data, ino);
    } else if (features.has(Feature.ORPHAN_FILE) && ino == Superblock.orphanFileInode(superblock)) {
      data.forEach(blockNr -> addBlock(Kind.ORPHANS, blockNr, ino));
    } else if (directory) {
      data.forEach(blockNr -> addBlock(kindOf(block(blockNr)), blockNr, ino));
    }
  }

  private static Kind kindOf(MemorySegment block) {
    return DxRoot.looksLikeRoot(block) && !DirTail.present(block) || DxNode.looksLikeNode(block)
        ? Kind.DIRECTORY_INDEX
        : Kind.DIRECTORY_LEAF;
  }

  private void addLog(List<Long> blocks, long ino) {
    addBlock(Kind.JOURNAL_SUPERBLOCK, blocks.getFirst(), ino);
    for (long blockNr : blocks.subList(1, Math.min(blocks.size(), MAX_LOG_BLOCKS))) {
      if (BlockHeader.hasMagic(block(blockNr))) {
        addBlock(Kind.LOG, blockNr, ino);
      }
    }
  }

  private void findExtents(MemorySegment node, long ino, List<Long> data) {
    for (int i = 0; i < ExtentHeader.entries(node); i++) {
      if (ExtentHeader.depth(node) > 0) {
        long child = ExtentIndex.child(node, i);
        addBlock(Kind.EXTENT_NODE, child, ino);
        findExtents(block(child), ino, data);
      } else {
        for (int k = 0; k < Extent.count(node, i); k++) {
          data.add(Extent.blockNr(node, i) + k);
        }
      }
    }
  }

  private void findPointers(long blockNr, int depth, long ino, List<Long> data) {
    if (blockNr == 0) {
      return;
    }
    if (depth == 0) {
      data.add(blockNr);
      return;
    }
    addBlock(Kind.POINTERS, blockNr, ino);
    for (int i = 0; i < geometry.blockSizeBytes() / 4; i++) {
      findPointers(Le.u32(block(blockNr), i * 4L), depth - 1, ino, data);
    }
  }

  /// The checksums as the image's superblock says.
  Checksums checksums() {
    return new Checksums(superblock);
  }
}
