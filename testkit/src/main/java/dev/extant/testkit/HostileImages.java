package dev.extant.testkit;

import dev.extant.block.RamDevice;
import dev.extant.ext4.format.DirEntry;
import dev.extant.ext4.format.DxEntries;
import dev.extant.ext4.format.DxRoot;
import dev.extant.ext4.format.ExtentHeader;
import dev.extant.ext4.format.ExtentIndex;
import dev.extant.ext4.format.GroupDescriptor;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.format.BlockHeader;
import dev.extant.testkit.MetadataMap.Kind;
import dev.extant.testkit.MetadataMap.Place;
import dev.extant.util.Be;
import dev.extant.util.Le;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/// Images that mean harm, each in one way and with right checksums: trees and directories that
/// contain themselves, lengths past the end, impossible numbers in the superblock, a journal that
/// points at itself.
public final class HostileImages {
  private static final long INCOMPAT_MMP = 0x100;

  /// An image by what is wrong with it. `reason` is a part of what a read-only mount, or reading
  /// everything in it, is refused with; null if the harm is where only other things look.
  public record Case(String name, String reason, RamDevice device) {
    @Override
    public String toString() {
      return name;
    }
  }

  private interface Damage {
    void on(Target target);
  }

  /// An image that is being damaged.
  private record Target(MemorySegment image, MetadataMap map) {
    MemorySegment bytes(Place place) {
      return image.asSlice(place.offset(), place.length());
    }

    MemorySegment superblock() {
      return image.asSlice(Superblock.OFFSET, Superblock.SIZE);
    }

    void seal(Place place) {
      new MetadataSeal(map).seal(image, place);
    }

    Place inode(long ino) {
      return map.places(Kind.INODE).stream()
          .filter(place -> place.number() == ino)
          .findFirst()
          .orElseThrow();
    }

    /// A block of this kind that belongs to the inode.
    Place of(Kind kind, long ino) {
      return map.places(kind).stream()
          .filter(place -> place.ino() == ino)
          .findFirst()
          .orElseThrow();
    }

    /// The inode with that name in the directory.
    long named(long directory, String name) {
      for (Kind kind : List.of(Kind.DIRECTORY_LEAF, Kind.DIRECTORY_INDEX)) {
        for (Place place : map.places(kind)) {
          int at = place.ino() == directory ? find(bytes(place), name) : -1;
          if (at >= 0) {
            return DirEntry.ino(bytes(place), at);
          }
        }
      }
      throw new IllegalArgumentException("no " + name);
    }

    /// Makes a name in the directory lead elsewhere.
    void lead(long directory, String name, long ino) {
      for (Place place : map.places(Kind.DIRECTORY_LEAF)) {
        int at = place.ino() == directory ? find(bytes(place), name) : -1;
        if (at >= 0) {
          DirEntry.ino(bytes(place), at, ino);
          DirEntry.typeCode(bytes(place), at, 2);
          seal(place);
        }
      }
    }

    private static int find(MemorySegment block, String name) {
      for (int at = 0; at < block.byteSize() - 12; at += Math.max(12, DirEntry.recLen(block, at))) {
        byte[] found = DirEntry.name(block, at);
        if (DirEntry.ino(block, at) != 0
            && name.equals(new String(found, StandardCharsets.ISO_8859_1))) {
          return at;
        }
      }
      return -1;
    }
  }

  private final List<Case> cases = new ArrayList<>();
  private final Map<String, RamDevice> bases = new HashMap<>();

  private final FuzzBases makers;

  private HostileImages(FuzzBases makers) {
    this.makers = makers;
  }

  /// All of them.
  public static List<Case> make(FuzzBases makers) throws IOException {
    HostileImages images = new HostileImages(makers);
    images.trees();
    images.directories();
    images.lengths();
    images.superblocks();
    images.descriptors();
    images.journals();
    images.lists();
    images.truncated();
    images.bases.values().forEach(RamDevice::close);
    return images.cases;
  }

  private RamDevice base(String type, String features) throws IOException {
    RamDevice base = bases.get(type + features);
    if (base == null) {
      base = makers.made(type, features).device();
      bases.put(type + features, base);
    }
    return base;
  }

  private static RamDevice copyOf(RamDevice base) {
    RamDevice copy = new RamDevice("hostile", base.sizeBytes());
    copy.memory().copyFrom(base.memory());
    return copy;
  }

  private void add(String name, String reason, String type, String features, Damage damage)
      throws IOException {
    RamDevice device = copyOf(base(type, features));
    damage.on(new Target(device.memory(), MetadataMap.of(device.memory())));
    cases.add(new Case(name, reason, device));
  }

  private void ext4(String name, String reason, Damage damage) throws IOException {
    add(name, reason, "ext4", "^has_journal", damage);
  }

  private void ext2(String name, String reason, Damage damage) throws IOException {
    add(name, reason, "ext2", "dir_index", damage);
  }

  private void inode(String name, String reason, String file, Consumer<MemorySegment> change)
      throws IOException {
    ext4(
        name,
        reason,
        target -> {
          Place place = target.inode(target.named(Superblock.ROOT_INO, file));
          change.accept(target.bytes(place));
          target.seal(place);
        });
  }

  private void trees() throws IOException {
    ext4(
        "an extent node that contains itself",
        "extent tree node",
        target -> {
          Place node = target.map.places(Kind.EXTENT_NODE).getFirst();
          MemorySegment bytes = target.bytes(node);
          ExtentHeader.initialise(bytes, 1);
          ExtentHeader.insert(bytes, 0, 0, ExtentIndex.body(node.number()));
          target.seal(node);
          Place inode = target.inode(node.ino());
          Le.put16(target.bytes(inode), RawInode.I_BLOCK + 6, 2);
          target.seal(inode);
        });
    ext4(
        "an extent tree of depth 65535",
        "depth 65535",
        target -> {
          Place inode = target.inode(target.map.places(Kind.EXTENT_NODE).getFirst().ino());
          Le.put16(target.bytes(inode), RawInode.I_BLOCK + 6, 0xffff);
          target.seal(inode);
        });
    ext2(
        "a block of pointers that contains itself",
        null,
        target -> {
          Place block = target.of(Kind.POINTERS, target.named(Superblock.ROOT_INO, "sparse"));
          for (int i = 0; i < block.length(); i += 4) {
            Le.put32(target.bytes(block), i, block.number());
          }
        });
    ext4(
        "an index of a directory that contains itself",
        null,
        target -> {
          Place index = target.of(Kind.DIRECTORY_INDEX, target.named(Superblock.ROOT_INO, "many"));
          MemorySegment bytes = target.bytes(index);
          DxRoot.indirectLevels(bytes, 1);
          for (int i = 0; i < DxEntries.count(bytes, DxRoot.ENTRIES); i++) {
            DxEntries.logical(bytes, DxRoot.ENTRIES, i, 0);
          }
          target.seal(index);
        });
  }

  private void directories() throws IOException {
    ext4(
        "a root that contains itself",
        "has a name in directory 2",
        target -> target.lead(Superblock.ROOT_INO, "deep", Superblock.ROOT_INO));
    ext4(
        "a directory that contains its parent",
        "directory 2: it has a name in directory",
        target -> {
          long deep = target.named(Superblock.ROOT_INO, "deep");
          target.lead(deep, "er", Superblock.ROOT_INO);
        });
    ext4(
        "a directory that contains itself",
        "it has a name in directory",
        target -> {
          long deep = target.named(Superblock.ROOT_INO, "deep");
          target.lead(deep, "er", deep);
        });
  }

  private void lengths() throws IOException {
    inode("a file of 2^63-1 bytes", null, "sparse", inode -> RawInode.size(inode, Long.MAX_VALUE));
    inode("a file of 2^64-1 bytes", "is corrupt", "sparse", inode -> RawInode.size(inode, -1));
    inode(
        "a directory of 2^40 bytes",
        "its size is",
        "many",
        inode -> RawInode.size(inode, 1L << 40));
    inode(
        "a directory of 2^64-1024 bytes",
        "its size is",
        "many",
        inode -> RawInode.size(inode, -1024));
    inode(
        "a symbolic link of 2^32 bytes",
        "size 4294967296",
        "long",
        inode -> RawInode.size(inode, 1L << 32));
    inode(
        "an inode with 65535 extra bytes",
        "i_extra_isize",
        "large",
        inode -> Le.put16(inode, 0x80, 0xffff));
    ext4(
        "a block of attributes with values outside",
        "block",
        target -> {
          Place block = target.map.places(Kind.ATTRIBUTES).getFirst();
          Le.put16(target.bytes(block), 34, 0xfff0);
          Le.put32(target.bytes(block), 40, 0xffff_ffffL);
          target.seal(block);
        });
    ext4(
        "a block of attributes that nobody and everybody uses",
        null,
        target -> {
          Place block = target.map.places(Kind.ATTRIBUTES).getFirst();
          Le.put32(target.bytes(block), 4, 0xffff_ffffL);
          target.seal(block);
        });
    inode(
        "attributes in a block past the end",
        "block",
        "large",
        inode -> RawInode.fileAcl(inode, 0xffff_ffff_ffffL));
  }

  private void superblocks() throws IOException {
    field("s_log_block_size", 0x18, 4, 0xffff_ffffL);
    field("s_log_block_size", 0x18, 4, 53);
    field("s_log_cluster_size", 0x1C, 4, 63);
    field("s_inode_size", 0x58, 2, 0);
    field("s_inode_size", 0x58, 2, 129);
    field("s_inode_size", 0x58, 2, 0x8000);
    field("s_desc_size", 0xFE, 2, 33);
    field("s_desc_size", 0xFE, 2, 0xffff);
    field("s_inodes_per_group", 0x28, 4, 0xffff_ffffL);
    field("s_inodes_per_group", 0x28, 4, 0);
    field("s_blocks_per_group", 0x20, 4, 0);
    field("s_blocks_per_group", 0x20, 4, 0x8000_0000L);
    field("s_first_data_block", 0x14, 4, 0xffff_ffffL);
    field("s_blocks_count", 0x150, 4, 0xffff_ffffL);
    field("s_blocks_count", 0x04, 4, 1);
    field("s_inodes_count", 0x00, 4, 0xffff_ffffL);
    field("s_first_ino", 0x54, 4, 0);
    field("s_reserved_gdt_blocks", 0xCE, 2, 0xffff);
    ext4(
        "a default hash that does not exist",
        "unknown directory hash 99",
        target -> put(target, 0xFC, 1, 99));
    ext4(
        "mmp in a block past the end",
        null,
        target -> {
          put(target, 0x60, 4, Le.u32(target.superblock(), 0x60) | INCOMPAT_MMP);
          put(target, 0x168, 8, -1);
        });
    ext4("reserved blocks without end", null, target -> put(target, 0x08, 4, 0xffff_ffffL));
  }

  private void field(String name, int offset, int width, long value) throws IOException {
    ext4(
        name + " of " + Long.toUnsignedString(value),
        name,
        target -> put(target, offset, width, value));
  }

  private static void put(Target target, int offset, int width, long value) {
    MemorySegment superblock = target.superblock();
    switch (width) {
      case 1 -> Le.put8(superblock, offset, (int) value);
      case 2 -> Le.put16(superblock, offset, (int) value);
      case 4 -> Le.put32(superblock, offset, value);
      default -> Le.put64(superblock, offset, value);
    }
    Superblock.seal(superblock);
  }

  private void descriptors() throws IOException {
    ext4(
        "groups with each other's bitmaps",
        null,
        target -> {
          MemorySegment first = target.bytes(target.map.places(Kind.DESCRIPTOR).get(0));
          MemorySegment second = target.bytes(target.map.places(Kind.DESCRIPTOR).get(1));
          long kept = GroupDescriptor.blockBitmap(first);
          GroupDescriptor.blockBitmap(first, GroupDescriptor.blockBitmap(second));
          GroupDescriptor.blockBitmap(second, kept);
          kept = GroupDescriptor.inodeBitmap(first);
          GroupDescriptor.inodeBitmap(first, GroupDescriptor.inodeBitmap(second));
          GroupDescriptor.inodeBitmap(second, kept);
          target.map.places(Kind.DESCRIPTOR).forEach(target::seal);
        });
    ext4(
        "an inode table past the end",
        "group descriptor 0 is corrupt",
        target -> {
          Place place = target.map.places(Kind.DESCRIPTOR).getFirst();
          GroupDescriptor.inodeTable(target.bytes(place), 0x7fff_ffff_ffffL);
          target.seal(place);
        });
    ext4(
        "two groups with one inode table",
        null,
        target -> {
          Place place = target.map.places(Kind.DESCRIPTOR).get(1);
          MemorySegment first = target.bytes(target.map.places(Kind.DESCRIPTOR).get(0));
          GroupDescriptor.inodeTable(target.bytes(place), GroupDescriptor.inodeTable(first));
          target.seal(place);
        });
  }

  private void journals() throws IOException {
    journal("a journal of 2^32-1 blocks", "it claims 4294967295 blocks", 0x10, 0xffff_ffffL);
    journal("a journal without blocks", "is impossible", 0x10, 0);
    journal("a log that begins in the journal's superblock", "is impossible", 0x14, 0);
    journal("a log that starts past its end", "it starts at block 4294967295", 0x1C, 0xffff_ffffL);
    journal("a journal with blocks of 2^31 bytes", "its block size is 2147483648", 0x0C, 1L << 31);
    add(
        "a log that is replayed over itself",
        "bad journal",
        "ext4",
        "^metadata_csum,^64bit",
        target -> {
          long journal = target.map.places(Kind.JOURNAL_SUPERBLOCK).getFirst().number();
          for (Place place : target.map.places(Kind.LOG)) {
            if (BlockHeader.type(target.bytes(place)) == BlockHeader.DESCRIPTOR) {
              Be.put32(target.bytes(place), BlockHeader.SIZE, journal);
            }
          }
        });
    journaled("a journal that is the root", "journal", target -> put(target, 0xE0, 4, 2));
    journaled(
        "a journal that does not exist", "journal", target -> put(target, 0xE0, 4, 0xffff_ffffL));
    journaled(
        "a journal whose blocks are its own inode",
        "journal",
        target -> {
          Place inode = target.inode(Superblock.JOURNAL_INO);
          long itself = inode.offset() / target.map.blockSizeBytes();
          Le.put32(target.bytes(inode), RawInode.I_BLOCK + 20, itself);
          target.seal(inode);
        });
  }

  private void journaled(String name, String reason, Damage damage) throws IOException {
    add(name, reason, "ext4", "dir_index", damage);
  }

  private void journal(String name, String reason, int offset, long value) throws IOException {
    journaled(
        name,
        reason,
        target -> {
          Place place = target.map.places(Kind.JOURNAL_SUPERBLOCK).getFirst();
          Be.put32(target.bytes(place), offset, value);
          target.seal(place);
        });
  }

  private void lists() throws IOException {
    ext2(
        "an orphan that follows itself",
        "it is not in use",
        target -> {
          Place inode = target.inode(target.named(Superblock.ROOT_INO, "large"));
          RawInode.linksCount(target.bytes(inode), 0);
          RawInode.dtime(target.bytes(inode), inode.number());
          put(target, 0xE8, 4, inode.number());
        });
    ext2("an orphan that does not exist", null, target -> put(target, 0xE8, 4, 0xffff_ffffL));
    ext2("an orphan that is the root", null, target -> put(target, 0xE8, 4, 2));
  }

  /// A device that ends where its file system goes on, or before it begins.
  private void truncated() throws IOException {
    RamDevice whole = base("ext4", "dir_index");
    for (long size :
        new long[] {1, 1023, 1024, 1025, 2047, 2048, 3000, 65_536, whole.sizeBytes() - 1024}) {
      RamDevice device = new RamDevice("truncated", size);
      device.memory().copyFrom(whole.memory().asSlice(0, size));
      String reason = size < 2048 ? "is too small" : "the device has only";
      cases.add(new Case("an image of " + size + " bytes", reason, device));
    }
    cases.add(new Case("zeroes", "holds no ext2", new RamDevice("zeroes", 1 << 20)));
  }
}
