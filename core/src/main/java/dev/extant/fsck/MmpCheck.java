package dev.extant.fsck;

import dev.extant.ext4.format.Feature;
import dev.extant.util.Crc32c;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// Checks the block in which mounts announce themselves to other machines (Linux documentation,
/// "Multiple Mount Protection"), and claims it.
final class MmpCheck {
  private static final int S_MMP_BLOCK = 0x168;
  private static final long MAGIC = 0x004D_4D50L;
  private static final int CHECKSUM = 0x3FC;

  private final CheckContext context;

  MmpCheck(CheckContext context) {
    this.context = context;
  }

  void run() {
    if (!context.has(Feature.MMP)) {
      return;
    }
    long blockNr = Le.u64(context.superblock(), S_MMP_BLOCK);
    if (!context.layout().validBlock(blockNr) || context.metadata().claimed(blockNr)) {
      context.report(Problem.MMP_PLACE, 0, 0, "it is " + Long.toUnsignedString(blockNr));
      return;
    }
    context.claims().claim(blockNr, 1);
    MemorySegment block = context.readBlock(blockNr, 0);
    if (block == null) {
      return;
    }
    if (Le.u32(block, 0) != MAGIC) {
      context.report(Problem.MMP_MAGIC, 0, blockNr, "0x%x".formatted(Le.u32(block, 0)));
    } else if (context.has(Feature.METADATA_CSUM)
        && Le.i32(block, CHECKSUM)
            != Crc32c.update(context.checksums().seed(), block, 0, CHECKSUM)) {
      context.report(Problem.MMP_CHECKSUM, 0, blockNr, "");
    }
  }
}
