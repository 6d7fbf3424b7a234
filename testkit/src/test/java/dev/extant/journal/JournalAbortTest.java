package dev.extant.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.DeviceException;
import dev.extant.block.DeviceException.Kind;
import dev.extant.block.DeviceException.Operation;
import dev.extant.block.RamDevice;
import dev.extant.journal.format.JournalSuperblock;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.FaultyDevice;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// I7: the first fatal error is kept, aborts the journal, reaches every waiter; nothing is written
/// then.
@Timeout(60)
class JournalAbortTest {
  private static final int LOG = 128;

  private final RamDevice ram = new RamDevice("ram", Bed.sizeBytes(LOG, 64));
  private final FaultyDevice device = new FaultyDevice(DelegatingDevice.withoutClose(ram), 1);

  @BeforeEach
  void format() throws IOException {
    Bed.format(ram, LOG);
  }

  @ParameterizedTest
  @EnumSource(
      value = Operation.class,
      names = {"WRITE", "FLUSH"})
  void aDeviceFailureReachesEveryWaiterAndLaterCall(Operation operation) throws IOException {
    Bed bed = Bed.on(device, LOG).open();
    bed.journal.commit(bed.put(0, 1)).join();
    device.failNth(operation, 1, Kind.UNKNOWN);
    long tid = bed.put(1, 2);
    CompletableFuture<Void> first = bed.journal.commit(tid);
    assertThatThrownBy(first::join)
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(JournalAbortedException.class);
    Throwable cause = bed.journal.abortCause();
    assertThat(cause).isInstanceOf(DeviceException.class).hasMessageContaining("planned failure");
    assertThat(bed.journal.committed(tid)).isFalse();
    assertThatThrownBy(() -> bed.journal.start(1))
        .isInstanceOf(JournalAbortedException.class)
        .hasCause(cause);
    assertThatThrownBy(() -> bed.journal.commit(tid).join())
        .satisfies(e -> assertThat(e.getCause()).hasCause(cause));
    assertThatThrownBy(bed.journal::checkpoint).isInstanceOf(JournalAbortedException.class);
    bed.journal.abort(new IOException("later"));
    assertThat(bed.journal.abortCause()).isSameAs(cause);
    bed.close();
    assertThat(device.nrFailures()).as("the failed call is not tried again").isEqualTo(1);
    try (Bed after = Bed.on(ram, LOG)) {
      after.recover();
      assertThat(after.onDevice(0)).isEqualTo(1);
    }
  }

  @Test
  void anAbortByTheFileSystemIsRecordedAndWritesNothingElse() throws IOException {
    Bed bed = Bed.on(device, LOG).open();
    bed.journal.commit(bed.put(0, 1)).join();
    Handle open = bed.journal.start(2);
    bed.put(open, 1, 9);
    CompletableFuture<Void> waiter = bed.journal.commit(open.tid());
    IOException cause = new IOException("a bitmap is corrupt");
    bed.journal.abort(cause);
    assertThatThrownBy(waiter::join).hasRootCause(cause);
    assertThatThrownBy(() -> bed.put(open, 2, 9)).isInstanceOf(JournalAbortedException.class);
    open.close();
    bed.journal.close();
    assertThat(JournalSuperblock.errno(bed.superblock())).isEqualTo(-5);
    try (Bed after = Bed.on(ram, LOG)) {
      RecoveryReport report = after.recover();
      assertThat(report.journalErrno()).isEqualTo(-5);
      assertThat(report.transactions()).isEqualTo(1);
      assertThat(after.onDevice(0)).isEqualTo(1);
      assertThat(after.onDevice(1)).isZero();
      assertThat(JournalSuperblock.errno(after.superblock())).isEqualTo(-5);
      Recovery.markEmpty(after.place, report, true);
      assertThat(JournalSuperblock.errno(after.superblock())).isZero();
    }
  }

  @Test
  void nothingIsWrittenToADeviceThatSomebodyElseTookOver() throws IOException {
    Bed bed = Bed.on(device, LOG).open();
    bed.journal.commit(bed.put(0, 1)).join();
    bed.journal.abort(
        new DeviceException(Kind.FENCED, Operation.WRITE, "ram", 0, 0, "another owner", null));
    bed.journal.close();
    assertThat(JournalSuperblock.errno(bed.superblock())).isZero();
  }

  @Test
  void whoWaitsForRoomIsToldOfTheAbort() throws IOException {
    Bed bed = Bed.on(device, LOG).open();
    Handle all = bed.journal.start(bed.journal.maxCredits());
    CompletableFuture<Throwable> waiting =
        CompletableFuture.supplyAsync(
            () -> {
              try (Handle handle = bed.journal.start(bed.journal.maxCredits())) {
                return new AssertionError("got in as " + handle.tid());
              } catch (IOException e) {
                return e;
              }
            });
    while (bed.journal.statistics().startWaits() == 0) {
      Thread.onSpinWait();
    }
    bed.journal.abort(new IOException("enough"));
    assertThat(waiting.join())
        .isInstanceOf(JournalAbortedException.class)
        .hasMessageContaining("enough");
    all.close();
    bed.journal.close();
  }

  @Test
  void anAbortedJournalClosesAlthoughAHandleIsOpen() throws IOException {
    Bed bed = Bed.on(device, LOG).open();
    Handle open = bed.journal.start(1);
    bed.journal.commit(open.tid());
    bed.journal.abort(new IOException("enough"));
    bed.journal.close();
    open.close();
  }

  @Test
  void aSealerThatThrowsAbortsTheJournal() throws IOException {
    Bed bed = Bed.on(device, LOG).open();
    IllegalStateException bug = new IllegalStateException("a bug");
    Sealer broken =
        new Sealer() {
          @Override
          public int rank() {
            return 0;
          }

          @Override
          public void seal(dev.extant.cache.Buffer buffer) {
            throw bug;
          }
        };
    try (Handle handle = bed.journal.start(1);
        var buffer = bed.cache.read(bed.home(0))) {
      handle.writeAccess(buffer);
      handle.dirty(buffer, broken);
    }
    assertThatThrownBy(() -> bed.journal.commitRunning().join()).hasRootCause(bug);
    assertThat(bed.journal.abortCause()).isSameAs(bug);
    bed.journal.close();
  }

  @Test
  void anUnreadableCheckpointTargetAbortsTheJournal() throws IOException {
    Bed bed = Bed.on(device, LOG).open();
    bed.journal.commit(bed.put(0, 1)).join();
    device.failRange(Operation.WRITE, bed.home(0) * Bed.BLOCK, Bed.BLOCK, Kind.UNKNOWN);
    assertThatThrownBy(bed.journal::checkpoint).isInstanceOf(JournalAbortedException.class);
    bed.journal.close();
    try (Bed after = Bed.on(ram, LOG)) {
      assertThat(after.recover().transactions()).isEqualTo(1);
      assertThat(after.onDevice(0)).isEqualTo(1);
    }
  }
}
