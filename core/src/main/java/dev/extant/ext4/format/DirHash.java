package dev.extant.ext4.format;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;

/// The hash of names in indexed directories (Linux documentation, "Hash Tree Directories", for the
/// versions; RFC 1320 for the rounds of MD4; Wheeler and Needham's "TEA, a Tiny Encryption
/// Algorithm").
///
/// A name gives a *major* hash, which orders the leaves, and a *minor* one, which the legacy hash
/// lacks (0). Both are 32 bits, unsigned; bit 0 of a major hash is always 0, and the highest is
/// never taken since it means the end of the directory.
///
/// Bytes of names count as signed or unsigned: that depends on the machine that made the file
/// system and is remembered in the superblock's s_flags.
///
/// Immutable.
public final class DirHash {
  public static final int LEGACY = 0;
  public static final int HALF_MD4 = 1;
  public static final int TEA = 2;

  private static final int END_OF_DIRECTORY = 0xffff_fffe;
  private static final int LEGACY_FACTOR = 7_152_373;
  private static final int MD4_G_CONSTANT = 0x5a82_7999;
  private static final int MD4_H_CONSTANT = 0x6ed9_eba1;
  private static final int TEA_DELTA = 0x9e37_79b9;
  private static final int TEA_ROUNDS = 16;

  private final int version;
  private final boolean unsignedBytes;
  private final int seed0;
  private final int seed1;
  private final int seed2;
  private final int seed3;

  /// A seed of four zeroes stands for MD4's own initial state. EUCLEAN if the version is none of
  /// the three.
  public DirHash(int version, boolean unsignedBytes, int[] seed) throws FsException {
    if (!known(version)) {
      throw new FsException(
          Errno.EUCLEAN, "the superblock names an unknown directory hash " + version);
    }
    this.version = version;
    this.unsignedBytes = unsignedBytes;
    boolean given = (seed[0] | seed[1] | seed[2] | seed[3]) != 0;
    this.seed0 = given ? seed[0] : 0x6745_2301;
    this.seed1 = given ? seed[1] : 0xefcd_ab89;
    this.seed2 = given ? seed[2] : 0x98ba_dcfe;
    this.seed3 = given ? seed[3] : 0x1032_5476;
  }

  public static boolean known(int version) {
    return version >= LEGACY && version <= TEA;
  }

  public int version() {
    return version;
  }

  /// The same with another version.
  public DirHash withVersion(int value) throws FsException {
    return value == version
        ? this
        : new DirHash(value, unsignedBytes, new int[] {seed0, seed1, seed2, seed3});
  }

  /// The major hash in the upper, the minor in the lower half.
  public long of(FileName name) {
    return of(name.bytes());
  }

  public static long major(long hash) {
    return hash >>> 32;
  }

  public static long minor(long hash) {
    return hash & 0xffff_ffffL;
  }

  public long of(byte[] name) {
    long hash =
        switch (version) {
          case LEGACY -> (long) legacy(name) << 32;
          case HALF_MD4 -> halfMd4(name);
          default -> tea(name);
        };
    int major = (int) (hash >>> 32) & ~1;
    if (major == END_OF_DIRECTORY) {
      major -= 2;
    }
    return (long) major << 32 | minor(hash);
  }

  private int legacy(byte[] name) {
    int newer = 0x12a3_fe2d;
    int older = 0x37ab_e8f9;
    for (byte octet : name) {
      int next = older + (newer ^ value(octet) * LEGACY_FACTOR);
      if (next < 0) {
        next -= 0x7fff_ffff;
      }
      older = newer;
      newer = next;
    }
    return newer << 1;
  }

  private int value(byte octet) {
    return unsignedBytes ? octet & 0xff : octet;
  }

  /// Fills `words` from the name's part at `offset`: bytes go into each word highest first; what is
  /// left over is padded with the number of bytes from `offset` to the end of the name.
  private void words(byte[] name, int offset, int[] words) {
    int rest = name.length - offset;
    int padding = (rest & 0xff) * 0x0101_0101;
    int taken = Math.min(rest, 4 * words.length);
    for (int w = 0; w < words.length; w++) {
      int word = padding;
      for (int i = 4 * w; i < Math.min(4 * w + 4, taken); i++) {
        word = (word << 8) + value(name[offset + i]);
      }
      words[w] = word;
    }
  }

  /// MD4 over chunks of eight words with three rounds of eight steps.
  private long halfMd4(byte[] name) {
    int[] words = new int[8];
    int a = seed0;
    int b = seed1;
    int c = seed2;
    int d = seed3;
    for (int offset = 0; offset < name.length; offset += 32) {
      words(name, offset, words);
      int a0 = a;
      int b0 = b;
      int c0 = c;
      int d0 = d;
      for (int i = 0; i < 8; i += 4) {
        a = Integer.rotateLeft(a + f(b, c, d) + words[i], 3);
        d = Integer.rotateLeft(d + f(a, b, c) + words[i + 1], 7);
        c = Integer.rotateLeft(c + f(d, a, b) + words[i + 2], 11);
        b = Integer.rotateLeft(b + f(c, d, a) + words[i + 3], 19);
      }
      for (int i = 1; i >= 0; i--) {
        a = Integer.rotateLeft(a + g(b, c, d) + words[i] + MD4_G_CONSTANT, 3);
        d = Integer.rotateLeft(d + g(a, b, c) + words[i + 2] + MD4_G_CONSTANT, 5);
        c = Integer.rotateLeft(c + g(d, a, b) + words[i + 4] + MD4_G_CONSTANT, 9);
        b = Integer.rotateLeft(b + g(c, d, a) + words[i + 6] + MD4_G_CONSTANT, 13);
      }
      for (int i = 3; i >= 1; i -= 2) {
        a = Integer.rotateLeft(a + h(b, c, d) + words[i] + MD4_H_CONSTANT, 3);
        d = Integer.rotateLeft(d + h(a, b, c) + words[i + 4] + MD4_H_CONSTANT, 9);
        c = Integer.rotateLeft(c + h(d, a, b) + words[i - 1] + MD4_H_CONSTANT, 11);
        b = Integer.rotateLeft(b + h(c, d, a) + words[i + 3] + MD4_H_CONSTANT, 15);
      }
      a += a0;
      b += b0;
      c += c0;
      d += d0;
    }
    return (long) b << 32 | c & 0xffff_ffffL;
  }

  private static int f(int x, int y, int z) {
    return x & y | ~x & z;
  }

  private static int g(int x, int y, int z) {
    return x & y | x & z | y & z;
  }

  private static int h(int x, int y, int z) {
    return x ^ y ^ z;
  }

  /// TEA's rounds with the words of each chunk as the key, on the first half of the state.
  private long tea(byte[] name) {
    int[] key = new int[4];
    int state0 = seed0;
    int state1 = seed1;
    for (int offset = 0; offset < name.length; offset += 16) {
      words(name, offset, key);
      int left = state0;
      int right = state1;
      int sum = 0;
      for (int round = 0; round < TEA_ROUNDS; round++) {
        sum += TEA_DELTA;
        left += (right << 4) + key[0] ^ right + sum ^ (right >>> 5) + key[1];
        right += (left << 4) + key[2] ^ left + sum ^ (left >>> 5) + key[3];
      }
      state0 += left;
      state1 += right;
    }
    return (long) state0 << 32 | state1 & 0xffff_ffffL;
  }
}
