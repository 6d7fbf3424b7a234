package dev.extant.journal;

import dev.extant.journal.batching.BatchingRule;
import dev.extant.journal.batching.BatchingRules;
import dev.extant.vfs.Batching;
import java.time.InstantSource;

/// How a journal is run.
///
/// - `name` names the threads.
/// - `commitIntervalSeconds`: a transaction is committed at this age; 0 means never for its age.
/// - `barrier`: flush the device where the order of writes matters. Without, only a crash of the
///   process is survived.
/// - `checksums`: the file system has metadata_csum, so the log gets checksums v3; else it keeps v2
///   or v3 if it has one of these.
/// - `wide`: the file system has 64-bit block numbers.
/// - `batching`: when a commit begins; a rule of its own for each journal.
public record JournalOptions(
    String name,
    int commitIntervalSeconds,
    boolean barrier,
    boolean checksums,
    boolean wide,
    BatchingRule batching,
    InstantSource clock) {

  public static JournalOptions of(String name) {
    return new JournalOptions(
        name,
        5,
        true,
        true,
        true,
        BatchingRules.create(Batching.of(Batching.Rule.NONE)),
        InstantSource.system());
  }

  public JournalOptions withCommitIntervalSeconds(int value) {
    return new JournalOptions(name, value, barrier, checksums, wide, batching, clock);
  }

  public JournalOptions withBarrier(boolean value) {
    return new JournalOptions(name, commitIntervalSeconds, value, checksums, wide, batching, clock);
  }

  public JournalOptions withFormat(boolean withChecksums, boolean withWide) {
    return new JournalOptions(
        name, commitIntervalSeconds, barrier, withChecksums, withWide, batching, clock);
  }

  public JournalOptions withBatching(BatchingRule value) {
    return new JournalOptions(name, commitIntervalSeconds, barrier, checksums, wide, value, clock);
  }

  public JournalOptions withClock(InstantSource value) {
    return new JournalOptions(
        name, commitIntervalSeconds, barrier, checksums, wide, batching, value);
  }
}
