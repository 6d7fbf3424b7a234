package dev.extant.testkit;

import dev.extant.ext4.format.RawInode;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/// Changes an image where its metadata is, with values that often do harm, and mostly makes the
/// checksums right again.
public final class ImageMutator {
  private static final long[] VALUES = {
    0,
    1,
    2,
    3,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000L,
    0xffff_fffeL,
    0xffff_ffffL,
    0x1_0000_0000L,
    0x7fff_ffff_ffff_ffffL,
    0x8000_0000_0000_0000L,
    -1
  };
  private static final int HEAD_BYTES = 64;

  private final MetadataMap map;
  private final MetadataSeal seal;

  public ImageMutator(MetadataMap map) {
    this.map = map;
    this.seal = new MetadataSeal(map);
  }

  /// Changes the image in one to six places; returns what was done.
  public String mutate(MemorySegment image, RandomGenerator random) {
    StringBuilder done = new StringBuilder();
    if (random.nextInt(12) == 0) {
      noise(image, random, done);
    }
    int count = 1 + random.nextInt(random.nextInt(6) + 1);
    List<MetadataMap.Place> changed = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      MetadataMap.Place place = place(random);
      MemorySegment bytes = image.asSlice(place.offset(), place.length());
      done.append(place.kind()).append(' ').append(place.number()).append(':');
      for (int n = 1 + random.nextInt(random.nextInt(4) + 1); n > 0; n--) {
        change(image, bytes, place, random, done);
      }
      changed.add(place);
    }
    if (random.nextInt(16) > 0) {
      changed.forEach(place -> seal.seal(image, place));
    }
    return done.toString();
  }

  private MetadataMap.Place place(RandomGenerator random) {
    List<MetadataMap.Kind> kinds = map.kinds();
    MetadataMap.Kind kind = kinds.get(random.nextInt(kinds.size()));
    if (kind == MetadataMap.Kind.SUPERBLOCK && random.nextInt(3) > 0) {
      kind = MetadataMap.Kind.INODE;
    }
    List<MetadataMap.Place> places = map.places(kind);
    return places.get(
        random.nextInt(random.nextInt(3) == 0 ? Math.min(places.size(), 12) : places.size()));
  }

  private void change(
      MemorySegment image,
      MemorySegment bytes,
      MetadataMap.Place place,
      RandomGenerator random,
      StringBuilder done) {
    int width = 1 << random.nextInt(4);
    long room =
        random.nextInt(3) > 0 ? Math.min(bytes.byteSize(), HEAD_BYTES * 2) : bytes.byteSize();
    long at = random.nextLong(room / width) * width;
    switch (random.nextInt(24)) {
      case 0 -> copyOther(image, bytes, place, random);
      case 1 -> bytes.asSlice(at).fill((byte) (random.nextBoolean() ? 0 : 0xff));
      case 2 -> sizeOrBit(bytes, place, at, random);
      case 3 -> Le.put8(bytes, at, Le.u8(bytes, at) ^ 1 << random.nextInt(8));
      default -> put(bytes, at, width, value(random, bytes, at));
    }
    done.append(" +").append(at).append('/').append(width);
  }

  private static void sizeOrBit(
      MemorySegment bytes, MetadataMap.Place place, long at, RandomGenerator random) {
    if (place.kind() == MetadataMap.Kind.INODE) {
      RawInode.size(bytes, VALUES[random.nextInt(VALUES.length)] << random.nextInt(2) * 10);
    } else {
      Le.put8(bytes, at, Le.u8(bytes, at) ^ 1 << random.nextInt(8));
    }
  }

  private void copyOther(
      MemorySegment image, MemorySegment bytes, MetadataMap.Place place, RandomGenerator random) {
    List<MetadataMap.Place> places = map.places(place.kind());
    MetadataMap.Place other = places.get(random.nextInt(places.size()));
    MemorySegment.copy(image, other.offset(), bytes, 0, Math.min(other.length(), place.length()));
  }

  private long value(RandomGenerator random, MemorySegment bytes, long at) {
    return switch (random.nextInt(6)) {
      case 0 -> random.nextInt(64);
      case 1 -> random.nextLong();
      case 2 -> place(random).offset() / map.blockSizeBytes();
      case 3 -> place(random).number();
      case 4 -> Le.u8(bytes, at) + random.nextInt(5) - 2;
      default -> VALUES[random.nextInt(VALUES.length)];
    };
  }

  private static void put(MemorySegment bytes, long at, int width, long value) {
    switch (width) {
      case 1 -> Le.put8(bytes, at, (int) value);
      case 2 -> Le.put16(bytes, at, (int) value);
      case 4 -> Le.put32(bytes, at, value);
      default -> Le.put64(bytes, at, value);
    }
  }

  private static void noise(MemorySegment image, RandomGenerator random, StringBuilder done) {
    for (int n = 1 + random.nextInt(40); n > 0; n--) {
      long at = random.nextLong(random.nextInt(4) == 0 ? image.byteSize() : image.byteSize() / 8);
      Le.put8(image, at, random.nextInt(256));
    }
    done.append("noise; ");
  }
}
