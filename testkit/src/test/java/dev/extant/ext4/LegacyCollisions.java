package dev.extant.ext4;

import dev.extant.ext4.format.DirHash;
import dev.extant.vfs.FileName;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// Names with one and the same legacy hash.
///
/// The hash adds one byte to a state of two words by `next = older + (newer ^ byte * FACTOR)`. So
/// for a beginning of a name, the wanted hash, and the last byte, the last byte but one follows,
/// and every now and then it is a byte indeed.
final class LegacyCollisions {
  private static final int FACTOR = 7_152_373;
  private static final int FACTOR_INVERSE = inverse(FACTOR);

  private LegacyCollisions() {}

  private static int inverse(int odd) {
    int inverse = odd;
    for (int i = 0; i < 5; i++) {
      inverse *= 2 - odd * inverse;
    }
    return inverse;
  }

  /// `count` names of `length` bytes with the same hash.
  static List<FileName> names(DirHash hash, int length, int count) {
    List<FileName> names = new ArrayList<>();
    FileName first = FileName.of("a".repeat(length));
    int wanted = (int) (DirHash.major(hash.of(first)) >>> 1);
    names.add(first);
    Random random = new Random(length);
    byte[] name = first.bytes();
    int free = length - 7;
    int startNewer = 0x12a3_fe2d;
    int startOlder = 0x37ab_e8f9;
    for (int i = 0; i < free; i++) {
      int next = reduce(startOlder + (startNewer ^ name[i] * FACTOR));
      startOlder = startNewer;
      startNewer = next;
    }
    while (names.size() < count) {
      int newer = startNewer;
      int older = startOlder;
      for (int i = free; i < length - 2; i++) {
        name[i] = (byte) ('A' + random.nextInt(58));
        int next = reduce(older + (newer ^ name[i] * FACTOR));
        older = newer;
        newer = next;
      }
      for (int last = -128; last <= 127; last++) {
        int before = (wanted - newer) ^ last * FACTOR;
        int octet = (newer ^ before - older) * FACTOR_INVERSE;
        if (legal(octet) && legal(last)) {
          name[length - 2] = (byte) octet;
          name[length - 1] = (byte) last;
          FileName found = FileName.of(name);
          if (hash.of(found) == hash.of(first)) {
            names.add(found);
          }
        }
      }
    }
    return names;
  }

  private static boolean legal(int octet) {
    return octet >= -128 && octet <= 127 && octet != 0 && octet != '/' && octet != '.';
  }

  private static int reduce(int next) {
    return next < 0 ? next - 0x7fff_ffff : next;
  }
}
