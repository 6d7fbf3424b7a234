package dev.extant.cli;

import dev.extant.Extant;
import dev.extant.mkfs.FsType;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.FuzzBases;
import java.time.Instant;
import java.util.UUID;

/// Images to damage, made by our mkfs and filled by our mount.
final class OurBases {
  private OurBases() {}

  static FuzzBases make() {
    return new FuzzBases(
        (device, type, features) -> Mkfs.make(device, options(type, features)),
        (device, options) -> Extant.open(device, options).volume());
  }

  private static MkfsOptions options(String type, String features) {
    boolean journal = !type.equals("ext2") && !features.contains("^has_journal");
    return MkfsOptions.builder()
        .type(FsType.ofSpelling(type))
        .blockSizeBytes(1024)
        .blocksPerGroup(2048)
        .journalMebibytes(journal ? 1 : 0)
        .features(features)
        .uuid(new UUID(1, 2))
        .hashSeed(new UUID(3, 4))
        .time(Instant.ofEpochSecond(1_750_000_000))
        .build();
  }
}
