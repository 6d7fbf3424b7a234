package dev.extant.journal;

import java.util.List;
import java.util.UUID;

/// What the journal superblock says. `features` have the names that dumpe2fs gives them; `start` is
/// 0 if the log is empty; `tid` is that of the first transaction that may be in it; `errno` is what
/// an abort recorded.
public record JournalInfo(
    long version,
    List<String> features,
    int blockSizeBytes,
    long lengthBlocks,
    long first,
    long start,
    long tid,
    int errno,
    UUID uuid) {}
