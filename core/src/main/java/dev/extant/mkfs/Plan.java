package dev.extant.mkfs;

import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupLayout;
import java.lang.foreign.MemorySegment;

/// What a file system is going to be: a superblock that is complete but for free counts and
/// checksum, and what follows from it. `journalBlocks` is 0 for none.
record Plan(
    MkfsOptions options,
    MemorySegment superblock,
    Features features,
    Geometry geometry,
    GroupLayout layout,
    long journalBlocks) {}
