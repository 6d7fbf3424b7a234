package dev.extant.testkit;

import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.DirTail;
import dev.extant.ext4.format.DxEntries;
import dev.extant.ext4.format.DxNode;
import dev.extant.ext4.format.DxRoot;
import dev.extant.ext4.format.DxTail;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupDescriptor;
import dev.extant.ext4.format.GroupLayout;
import dev.extant.ext4.format.MmpBlock;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.format.JournalSuperblock;
import dev.extant.util.Le;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Changes bytes of metadata in an image, with or without making its checksum right again.
final class FsckBits {
  private static final int[] WORDS = {0, 1, 2, 0xff, 0xffff, 0x7fff_ffff, 0x8000_0000, -1};
  private static final int USED_INODE_BYTES = 160;

  /// Makes the checksum right in the bytes of one structure.
  private interface Seal {
    void on(MemorySegment bytes) throws IOException;
  }

  private static final Seal NO_SEAL = _ -> {};

  private final Path image;
  private final RandomGenerator random;
  private final MemorySegment sb = MemorySegment.ofArray(new byte[Superblock.SIZE]);
  private final Geometry geometry;
  private final GroupLayout layout;
  private final Checksums checksums;
  private final int blockSizeBytes;

  FsckBits(Path image, RandomGenerator random) throws IOException {
    this.image = image;
    this.random = random;
    try (FileChannel channel = FileChannel.open(image)) {
      channel.read(sb.asByteBuffer(), Superblock.OFFSET);
      this.geometry = Superblock.geometry(sb, channel.size());
    }
    this.layout = new GroupLayout(sb, geometry);
    this.checksums = new Checksums(sb);
    this.blockSizeBytes = geometry.blockSizeBytes();
  }

  int anyGroup() {
    return random.nextInt(geometry.groupCount());
  }

  long anyInode() {
    return 1 + random.nextLong(geometry.inodesCount());
  }

  long anyBlock() {
    return 1 + random.nextLong(geometry.blocksCount() - 4);
  }

  /// A block of descriptors, bitmaps or inodes.
  long metadataBlock() {
    MemorySegment descriptor = descriptor(anyGroup());
    return switch (random.nextInt(5)) {
      case 0 -> GroupDescriptor.blockBitmap(descriptor);
      case 1 -> GroupDescriptor.inodeBitmap(descriptor);
      case 2 -> layout.descriptorBlockNr(anyGroup());
      default ->
          GroupDescriptor.inodeTable(descriptor)
              + random.nextInt(geometry.inodeTableBlocksPerGroup());
    };
  }

  /// The blocks of a file's content, in debugfs' order.
  List<Long> blocks(String file) throws IOException {
    List<Long> blocks = new ArrayList<>();
    for (String word : Debugfs.read(image, "blocks " + file).split("\\s+")) {
      if (word.matches("\\d+") && Long.parseLong(word) > 0) {
        blocks.add(Long.parseLong(word));
      }
    }
    return blocks;
  }

  /// Changes something there; returns what.
  String change(String place, boolean sealed) throws IOException {
    return switch (place) {
      case "superblock" ->
          edit(Superblock.OFFSET, Superblock.SIZE, Superblock.SIZE, sealed, Superblock::seal);
      case "descriptors" -> changeDescriptor(sealed);
      case "bitmaps" -> changeBitmap(sealed);
      case "inodes" -> {
        long ino = inode(pick("/", "/many", "/deep", "/large", "/one-block", "/long", "<8>"));
        int size = geometry.inodeSizeBytes();
        int used = random.nextInt(4) == 0 ? size : Math.min(USED_INODE_BYTES, size);
        yield edit(inodeOffset(ino), size, used, sealed, raw -> checksums.sealInode(raw, ino));
      }
      case "directories" -> {
        String directory = pick("/many", "/", "/deep");
        int seed = seed(directory);
        yield editOneOf(blocks(directory), sealed, block -> sealLeaf(block, seed));
      }
      case "indexes" -> changeIndex(sealed);
      case "maps" -> {
        String file = pick("/large", "/sparse");
        int seed = seed(file);
        List<Long> nodes = found(file, "\\((?:IND|DIND|TIND|ETB\\d)\\):(\\d+)");
        yield editOneOf(nodes, sealed, block -> checksums.sealExtentBlock(block, seed));
      }
      case "attributes" -> {
        List<Long> found = found(pick("/large", "/deep"), "File ACL: (\\d+)");
        long blockNr = found.isEmpty() ? 0 : found.getFirst();
        yield editOneOf(found, sealed, block -> checksums.sealXattrBlock(block, blockNr));
      }
      case "journal" ->
          editOneOf(
              found("<8>", "\\(0(?:-\\d+)?\\):(\\d+)"),
              sealed,
              block -> JournalSuperblock.seal(block.asSlice(0, JournalSuperblock.SIZE)));
      case "special files" -> changeSpecial(sealed);
      default -> throw new IllegalArgumentException(place);
    };
  }

  private String pick(String... among) {
    return among[random.nextInt(among.length)];
  }

  private long descriptorOffset(int group) {
    return layout.descriptorBlockNr(group) * blockSizeBytes + layout.descriptorOffset(group);
  }

  private String changeDescriptor(boolean sealed) throws IOException {
    int group = anyGroup();
    int size = geometry.descriptorSizeBytes();
    Seal seal = descriptor -> checksums.sealDescriptor(descriptor, group);
    return edit(descriptorOffset(group), size, size, sealed, seal);
  }

  private String changeBitmap(boolean sealed) throws IOException {
    int group = anyGroup();
    MemorySegment descriptor = descriptor(group);
    boolean ofBlocks = random.nextBoolean();
    long blockNr =
        ofBlocks
            ? GroupDescriptor.blockBitmap(descriptor)
            : GroupDescriptor.inodeBitmap(descriptor);
    int bits = ofBlocks ? geometry.clustersPerGroup() : geometry.inodesPerGroup();
    Seal seal =
        bitmap -> {
          if (ofBlocks) {
            checksums.sealBlockBitmap(descriptor, bitmap, geometry);
          } else {
            checksums.sealInodeBitmap(descriptor, bitmap, geometry);
          }
          checksums.sealDescriptor(descriptor, group);
          write(descriptorOffset(group), descriptor);
        };
    return edit(blockNr * blockSizeBytes, blockSizeBytes, bits / 8, sealed, seal);
  }

  private String changeIndex(boolean sealed) throws IOException {
    List<Long> blocks = blocks("/many");
    if (blocks.size() < 2) {
      return "nothing: there is no index";
    }
    int seed = seed("/many");
    MemorySegment root = read(blocks.getFirst() * blockSizeBytes, blockSizeBytes);
    int node = 0;
    if (DxRoot.looksLikeRoot(root) && DxRoot.indirectLevels(root) > 0 && random.nextBoolean()) {
      int count = DxEntries.count(root, DxRoot.ENTRIES);
      node = DxEntries.logical(root, DxRoot.ENTRIES, random.nextInt(Math.max(1, count)));
    }
    int base = node == 0 ? DxRoot.ENTRIES : DxNode.ENTRIES;
    return editOneOf(
        List.of(blocks.get(Math.min(node, blocks.size() - 1))),
        sealed,
        block -> sealIndex(block, base, seed));
  }

  private void sealIndex(MemorySegment block, int base, int seed) {
    int count = DxEntries.count(block, base);
    int tail = base + DxEntries.ENTRY_SIZE * DxEntries.limit(block, base);
    if (checksums.enabled()
        && tail + DxTail.SIZE <= block.byteSize()
        && base + DxEntries.ENTRY_SIZE * count <= tail) {
      DxTail.checksum(block, base, checksums.directoryIndex(block, seed, base, count, tail));
    }
  }

  private void sealLeaf(MemorySegment block, int seed) {
    if (checksums.enabled() && DirTail.present(block)) {
      DirTail.checksum(block, checksums.directoryLeaf(block, seed, DirTail.offset(block)));
    } else {
      sealIndex(block, DxRoot.ENTRIES, seed);
    }
  }

  /// The orphan file, the files of quotas, the block of mmp.
  private String changeSpecial(boolean sealed) throws IOException {
    long orphans = Superblock.orphanFileInode(sb);
    long mmp = Superblock.mmpBlock(sb);
    if (orphans != 0) {
      String file = "<" + orphans + ">";
      List<Long> blocks = blocks(file);
      int seed = seed(file);
      long blockNr = blocks.get(random.nextInt(blocks.size()));
      Seal seal = block -> checksums.sealOrphanBlock(block, blockNr, seed);
      return editOneOf(List.of(blockNr), sealed, seal);
    }
    if (mmp != 0) {
      Seal seal = block -> checksums.sealMmpBlock(block.asSlice(0, MmpBlock.SIZE));
      return editOneOf(List.of(mmp), sealed, seal);
    }
    long quota = Superblock.quotaInode(sb, random.nextInt(Superblock.QUOTA_TYPES));
    return quota == 0
        ? "nothing: there is no special file"
        : editOneOf(blocks("<" + quota + ">"), sealed, NO_SEAL);
  }

  private int seed(String file) throws IOException {
    long ino = inode(file);
    MemorySegment raw = read(inodeOffset(ino), geometry.inodeSizeBytes());
    return checksums.inodeSeed(ino, RawInode.generation(raw));
  }

  private List<Long> found(String file, String pattern) throws IOException {
    List<Long> found = new ArrayList<>();
    Matcher matcher = Pattern.compile(pattern).matcher(Debugfs.read(image, "stat " + file));
    while (matcher.find()) {
      found.add(Long.parseLong(matcher.group(1)));
    }
    found.removeIf(blockNr -> blockNr == 0);
    return found;
  }

  private long inode(String file) throws IOException {
    Matcher matcher = Pattern.compile("Inode: (\\d+)").matcher(Debugfs.read(image, "stat " + file));
    return matcher.find() ? Long.parseLong(matcher.group(1)) : Superblock.ROOT_INO;
  }

  private MemorySegment descriptor(int group) {
    try {
      return read(descriptorOffset(group), geometry.descriptorSizeBytes());
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private long inodeOffset(long ino) {
    long table = GroupDescriptor.inodeTable(descriptor(geometry.groupOfInode(ino)));
    return table * blockSizeBytes
        + (long) geometry.inodeIndexInGroup(ino) * geometry.inodeSizeBytes();
  }

  private String editOneOf(List<Long> blocks, boolean sealed, Seal seal) throws IOException {
    if (blocks.isEmpty()) {
      return "nothing: there is no such block";
    }
    long blockNr = blocks.get(random.nextInt(blocks.size()));
    int length = random.nextBoolean() ? 64 : blockSizeBytes;
    return edit(blockNr * blockSizeBytes, blockSizeBytes, length, sealed, seal);
  }

  /// Flips up to three bits of a structure, or writes a small number over one.
  private String edit(long offset, int sizeBytes, int usedBytes, boolean sealed, Seal seal)
      throws IOException {
    MemorySegment bytes = read(offset, sizeBytes);
    StringBuilder text = new StringBuilder();
    if (random.nextInt(3) == 0) {
      int width = 1 << random.nextInt(3);
      int at = random.nextInt(usedBytes / width) * width;
      int value = WORDS[random.nextInt(WORDS.length)];
      for (int i = 0; i < width; i++) {
        Le.put8(bytes, at + i, value >>> 8 * i);
      }
      text.append("%d bytes at %d + %d: 0x%x".formatted(width, offset, at, value));
    } else {
      for (int i = random.nextInt(3); i >= 0; i--) {
        int at = random.nextInt(usedBytes);
        int bit = random.nextInt(8);
        Le.put8(bytes, at, Le.u8(bytes, at) ^ 1 << bit);
        text.append("bit %d of byte %d + %d ".formatted(bit, offset, at));
      }
    }
    if (sealed) {
      seal.on(bytes);
    }
    write(offset, bytes);
    return text.toString().strip();
  }

  private MemorySegment read(long offset, int sizeBytes) throws IOException {
    MemorySegment bytes = MemorySegment.ofArray(new byte[sizeBytes]);
    ByteBuffer buffer = bytes.asByteBuffer();
    try (FileChannel channel = FileChannel.open(image)) {
      while (buffer.hasRemaining() && channel.read(buffer, offset + buffer.position()) > 0) {
        // Until all is read.
      }
    }
    return bytes;
  }

  private void write(long offset, MemorySegment bytes) throws IOException {
    try (FileChannel channel = FileChannel.open(image, StandardOpenOption.WRITE)) {
      channel.write(bytes.asByteBuffer(), offset);
    }
  }
}
