package dev.extant.ext4.format;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;

/// Structures from an image that mke2fs 1.47.0 made (`-t ext4 -O orphan_file,metadata_csum_seed`,
/// 64 MiB, blocks of 1 KiB). Lines are offset and bytes in hexadecimal; what is not listed is zero.
final class Golden {
  static final String SUPERBLOCK =
      """
      000: 0040000000000100cc0c0000b7da0000
      010: f43f0000010000000000000000000000
      020: 00200000002000000008000000000000
      030: a33c0e6b0000ffff53ef010001000000
      040: a33c0e6b000000000000000001000000
      050: 000000000b000000000100003c100000
      060: c22200006b0400000011223344556677
      070: 8899aabbccddeeff0000000000000000
      0c0: 00000000000000000000000000000001
      0e0: 08000000000000000000000052e02568
      0f0: 3df145558f397d99bdd83e7201014000
      100: 0c00000000000000a33c0e6b0af30100
      110: 04000000000000000000000000100000
      120: 01400000000000000000000000000000
      140: 00000000000000000000000000004000
      150: 00000000000000000000000020002000
      160: 01000000000000000000000000000000
      170: 00000000040100003801000000000000
      240: 00000000000000001b25000000000000
      270: 7d1620b7000000000000000000000000
      280: 0c000000000000000000000000000000
      3f0: 00000000000000000000000016ec44a3
      """;

  static final String DESCRIPTOR_0 =
      """
      000: 030100000b01000013010000c00ef407
      010: 02000000000000008a720a2bf40773cf
      030: 0000000000000000fffd915800000000
      """;

  static final String DESCRIPTOR_1 =
      """
      000: 040100000c01000013030000fe1e0008
      010: 00000300000000000000000000086b00
      """;

  static final String DESCRIPTOR_2 =
      """
      000: 050100000d0100001305000000100008
      010: 00000100000000003a160000000841b4
      030: 00000000000000007bf8000000000000
      """;

  static final String ROOT_INODE =
      """
      000: ed41000000040000a33c0e6ba33c0e6b
      010: a33c0e6b000000000000030002000000
      020: 00000800000000000af3010004000000
      030: 00000000000000000100000013110000
      070: 000000000000000000000000c36c0000
      080: 2000b3de000000000000000000000000
      090: a33c0e6b000000000000000000000000
      """;

  static final String ROOT_DIRECTORY =
      """
      000: 020000000c0001022e00000002000000
      010: 0c0002022e2e00000b000000dc030a02
      020: 6c6f73742b666f756e64000000000000
      3f0: 00000000000000000c0000dea04f4522
      """;

  /// Lies at block 4385 and belongs to inode 12.
  static final String ORPHAN_BLOCK =
      """
      3f0: 000000000000000004ca100be5f7d004
      """;

  private Golden() {}

  static MemorySegment superblock() {
    return bytes(SUPERBLOCK, Superblock.SIZE);
  }

  static MemorySegment bytes(String dump, int size) {
    byte[] bytes = new byte[size];
    for (String line : dump.lines().toList()) {
      byte[] part = HexFormat.of().parseHex(line.substring(5));
      System.arraycopy(part, 0, bytes, HexFormat.fromHexDigits(line, 0, 3), part.length);
    }
    return MemorySegment.ofArray(bytes);
  }
}
