package dev.extant.journal;

/// What a recovery found and did.
///
/// `firstTid` and `lastTid` are those of the replayed transactions (0 if none). `revokeHits` counts
/// the copies that were left out because a later transaction revoked them. `journalErrno` is what
/// an earlier abort recorded, 0 or a negative number of Linux's errno list. `nextTid` is the first
/// that a new transaction may have, so that nothing that is in the log now can be taken for it.
/// `damage` is null, or says that the log ended at a transaction that had been durable and is now
/// unreadable: then changes that were acknowledged are lost. `fastCommits` is null, or says that
/// fast commits follow, which are never replayed: what is before them is whole, but lacks what they
/// acknowledged.
public record RecoveryReport(
    boolean needed,
    long transactions,
    long blocksReplayed,
    long revokeHits,
    long firstTid,
    long lastTid,
    int journalErrno,
    long nextTid,
    String damage,
    String fastCommits) {}
