package dev.extant.mkfs;

import java.lang.foreign.MemorySegment;

/// A block of a file's block map that is to be written: a leaf of an extent tree or an indirect
/// block.
record MapBlock(long blockNr, MemorySegment block) {}
