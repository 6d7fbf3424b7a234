package dev.extant.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.RamDevice;
import dev.extant.cache.Buffer;
import dev.extant.journal.format.BlockHeader;
import dev.extant.journal.format.JournalSuperblock;
import dev.extant.util.Be;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class Jbd2JournalTest {
  private static Bed copyOf(Bed bed, int logLength) {
    RamDevice copy = new RamDevice("copy", bed.device.sizeBytes());
    copy.memory().copyFrom(((RamDevice) bed.device).memory());
    return Bed.on(copy, logLength);
  }

  @Test
  void aCommittedChangeIsInTheLogAndNotAtHome() throws IOException {
    try (Bed bed = Bed.inMemory(128, 8).open()) {
      long tid = bed.put(3, 77);
      assertThat(bed.journal.committed(tid)).isFalse();
      bed.journal.commit(tid).join();
      assertThat(bed.journal.committed(tid)).isTrue();
      assertThat(bed.onDevice(3)).isZero();
      try (Bed after = copyOf(bed, 128)) {
        RecoveryReport report = after.recover();
        assertThat(report.transactions()).isEqualTo(1);
        assertThat(report.firstTid()).isEqualTo(tid);
        assertThat(report.blocksReplayed()).isEqualTo(1);
        assertThat(after.onDevice(3)).isEqualTo(77);
        assertThat(JournalSuperblock.start(after.superblock())).isZero();
        assertThat(Recovery.inspect(after.place).needed()).isFalse();
      }
    }
  }

  @Test
  void anUncommittedChangeIsNotRecovered() throws IOException {
    try (Bed bed = Bed.inMemory(128, 8).open()) {
      bed.journal.commit(bed.put(1, 5)).join();
      bed.put(1, 6);
      bed.put(2, 6);
      try (Bed after = copyOf(bed, 128)) {
        after.recover();
        assertThat(after.onDevice(1)).isEqualTo(5);
        assertThat(after.onDevice(2)).isZero();
      }
    }
  }

  @Test
  void closeBringsEverythingHomeAndLeavesACleanLog() throws IOException {
    RamDevice device = new RamDevice("ram", Bed.sizeBytes(128, 8));
    Bed.format(device, 128);
    Bed bed = Bed.on(device, 128).open();
    bed.put(1, 11);
    bed.put(2, 12);
    bed.journal.close();
    assertThat(bed.onDevice(1)).isEqualTo(11);
    assertThat(bed.onDevice(2)).isEqualTo(12);
    assertThat(JournalSuperblock.start(bed.superblock())).isZero();
    assertThatThrownBy(() -> bed.journal.start(1)).isInstanceOf(IOException.class);
    bed.close();
  }

  @Test
  void openAndCloseWithoutAChangeWritesNothing() throws IOException {
    try (Bed bed = Bed.inMemory(128, 8)) {
      byte[] before = bed.superblock().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
      bed.open();
      bed.journal.close();
      byte[] after = bed.superblock().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
      assertThat(after).isEqualTo(before);
    }
  }

  @Test
  void theLogWrapsManyTimes() throws IOException {
    try (Bed bed = Bed.inMemory(1024, 600).open()) {
      long last = 0;
      int rounds = 400;
      for (int round = 1; round <= rounds; round++) {
        try (Handle handle = bed.journal.start(20)) {
          for (int i = 0; i < 20; i++) {
            bed.put(handle, (round * 7 + i) % 600, round);
          }
          last = handle.tid();
        }
        if (round % 3 == 0) {
          bed.journal.commit(last).join();
        }
      }
      bed.journal.commit(last).join();
      JournalStatistics statistics = bed.journal.statistics();
      assertThat(statistics.blocksLogged()).isGreaterThan(3 * 1024);
      assertThat(statistics.overdrafts()).isZero();
      try (Bed after = copyOf(bed, 1024)) {
        after.recover();
        for (int i = 0; i < 20; i++) {
          assertThat(after.onDevice((rounds * 7 + i) % 600)).isEqualTo(rounds);
        }
      }
    }
  }

  @Test
  void aBlockThatLooksLikeALogBlockIsEscaped() throws IOException {
    try (Bed bed = Bed.inMemory(128, 8).open()) {
      long tid;
      try (Handle handle = bed.journal.start(1);
          Buffer buffer = bed.cache.read(bed.home(0))) {
        handle.writeAccess(buffer);
        BlockHeader.write(buffer.data(), BlockHeader.COMMIT, handle.tid());
        Be.put32(buffer.data(), 100, 42);
        handle.dirty(buffer);
        tid = handle.tid();
      }
      bed.journal.commit(tid).join();
      try (Bed after = copyOf(bed, 128)) {
        after.recover();
        try (Bed reread = copyOf(after, 128).open();
            Buffer buffer = reread.cache.read(reread.home(0))) {
          assertThat(BlockHeader.hasMagic(buffer.data())).isTrue();
          assertThat(BlockHeader.type(buffer.data())).isEqualTo(BlockHeader.COMMIT);
          assertThat(Be.u32(buffer.data(), 100)).isEqualTo(42);
        }
      }
      try (Buffer buffer = bed.cache.read(bed.home(0))) {
        assertThat(BlockHeader.hasMagic(buffer.data())).isTrue();
      }
    }
  }

  @Test
  void theSealerRunsOncePerTransactionInTheOrderOfRank() throws IOException {
    record Sealing(int rank, long blockNr) {}
    List<Sealing> seen = new ArrayList<>();
    class Recorder implements Sealer {
      private final int rank;

      Recorder(int rank) {
        this.rank = rank;
      }

      @Override
      public int rank() {
        return rank;
      }

      @Override
      public void seal(Buffer buffer) {
        seen.add(new Sealing(rank, buffer.blockNr()));
        Be.put64(buffer.data(), 0, 99);
      }
    }
    try (Bed bed = Bed.inMemory(128, 8).open()) {
      for (int i = 0; i < 3; i++) {
        try (Handle handle = bed.journal.start(2);
            Buffer group = bed.cache.read(bed.home(0));
            Buffer bitmap = bed.cache.read(bed.home(1))) {
          handle.writeAccess(group);
          handle.dirty(group, new Recorder(1));
          handle.writeAccess(bitmap);
          handle.dirty(bitmap, new Recorder(0));
        }
      }
      bed.journal.commitRunning().join();
      assertThat(seen).containsExactly(new Sealing(0, bed.home(1)), new Sealing(1, bed.home(0)));
      bed.journal.checkpoint();
      try (Bed after = copyOf(bed, 128).open();
          Buffer buffer = after.cache.read(after.home(1))) {
        assertThat(Be.u64(buffer.data(), 0)).isEqualTo(99);
      }
    }
  }

  @Test
  void listenersAreToldBeforeWaiters() throws IOException {
    try (Bed bed = Bed.inMemory(128, 8).open()) {
      List<Long> told = new ArrayList<>();
      bed.journal.addCommitListener(told::add);
      long tid = bed.put(0, 1);
      CompletableFuture<Integer> seen = bed.journal.commit(tid).thenApply(done -> told.size());
      assertThat(seen.join()).isEqualTo(1);
      assertThat(told).containsExactly(tid);
    }
  }

  @Test
  void cancellingOneWaitersFutureDisturbsNobody() throws IOException {
    try (Bed bed = Bed.inMemory(128, 8).open()) {
      Handle open = bed.journal.start(1);
      CompletableFuture<Void> mine = bed.journal.commit(open.tid());
      CompletableFuture<Void> theirs = bed.journal.commit(open.tid());
      mine.cancel(true);
      open.close();
      theirs.orTimeout(10, TimeUnit.SECONDS).join();
      assertThat(bed.journal.committed(open.tid())).isTrue();
    }
  }

  @Test
  void orderedDataIsWrittenBeforeTheCommitBlock() throws IOException {
    try (Bed bed = Bed.inMemory(128, 8).open()) {
      List<Boolean> committedWhenWritten = new ArrayList<>();
      long tid;
      try (Handle handle = bed.journal.start(1)) {
        tid = handle.tid();
        long mine = tid;
        OrderedData data = () -> committedWhenWritten.add(bed.journal.committed(mine));
        handle.orderedData(data);
        handle.orderedData(data);
        bed.put(handle, 0, 1);
      }
      bed.journal.commit(tid).join();
      assertThat(committedWhenWritten).containsExactly(false);
    }
  }

  @Test
  void theTimerCommits() throws IOException {
    try (Bed bed = Bed.inMemory(128, 8)) {
      bed.open(Bed.options().withCommitIntervalSeconds(1));
      CompletableFuture<Long> committed = new CompletableFuture<>();
      bed.journal.addCommitListener(committed::complete);
      long tid = bed.put(0, 1);
      assertThat(committed.orTimeout(10, TimeUnit.SECONDS).join()).isEqualTo(tid);
    }
  }

  @Test
  void creditsAreCountedAndExtended() throws IOException {
    try (Bed bed = Bed.inMemory(256, 200).open()) {
      try (Handle handle = bed.journal.start(2)) {
        bed.put(handle, 0, 1);
        bed.put(handle, 0, 2);
        assertThat(handle.creditsLeft()).isEqualTo(1);
        assertThat(handle.extend(5)).isTrue();
        assertThat(handle.creditsLeft()).isEqualTo(6);
        assertThat(handle.extend(bed.journal.maxCredits())).isFalse();
      }
      int tooMany = bed.journal.maxCredits() + 1;
      assertThatThrownBy(() -> bed.journal.start(tooMany))
          .isInstanceOf(JournalException.class)
          .hasMessageContaining("too small");
      bed.journal.start(bed.journal.maxCredits()).close();
    }
  }

  /// On the disk a tid has 32 bits.
  @Test
  void tidsGoOnBeyond32Bits() throws IOException {
    RamDevice device = new RamDevice("ram", Bed.sizeBytes(128, 8));
    Bed.format(device, 128);
    JournalSuperblock.sequence(device.memory().asSlice(Bed.BLOCK, Bed.BLOCK), 0xffff_fffdL);
    try (Bed bed = Bed.on(device, 128).open()) {
      long tid = 0;
      for (int i = 1; i <= 5; i++) {
        tid = bed.put(0, i);
        bed.journal.commit(tid).join();
      }
      assertThat(tid).isEqualTo(0x1_0000_0002L);
      try (Bed after = copyOf(bed, 128)) {
        RecoveryReport report = after.recover();
        assertThat(report.transactions()).isEqualTo(5);
        assertThat(after.onDevice(0)).isEqualTo(5);
        after.open();
        after.journal.commit(after.put(0, 6)).join();
        try (Bed again = copyOf(after, 128)) {
          assertThat(again.recover().transactions()).isEqualTo(1);
          assertThat(again.onDevice(0)).isEqualTo(6);
        }
      }
    }
  }

  @Test
  void aFragmentedJournalWorks() throws IOException {
    RamDevice device = new RamDevice("ram", Bed.sizeBytes(256, 100));
    Bed.format(device, 256);
    try (Bed bed = Bed.backwards(device, 256).open()) {
      for (int round = 1; round <= 60; round++) {
        try (Handle handle = bed.journal.start(10)) {
          for (int i = 0; i < 10; i++) {
            bed.put(handle, (round + i) % 100, round);
          }
        }
        bed.journal.commitRunning().join();
      }
      RamDevice copy = new RamDevice("copy", device.sizeBytes());
      copy.memory().copyFrom(device.memory());
      try (Bed after = Bed.backwards(copy, 256)) {
        assertThat(after.recover().transactions()).isGreaterThan(1);
        assertThat(after.onDevice(69)).isEqualTo(60);
      }
    }
  }
}
