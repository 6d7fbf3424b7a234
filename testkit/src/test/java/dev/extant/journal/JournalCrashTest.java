package dev.extant.journal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.block.BlockDevice;
import dev.extant.block.OverlayDevice;
import dev.extant.block.RamDevice;
import dev.extant.block.RequestQueue;
import dev.extant.journal.format.JournalSuperblock;
import dev.extant.testkit.CutStates;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.RecordingDevice;
import dev.extant.testkit.Seeds;
import java.io.IOException;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Cuts the power at any moment of a random workload: what is recovered is exactly what some
/// transaction left, and all that was acknowledged is in it.
@Timeout(120)
class JournalCrashTest {
  private static final int LOG = 96;
  private static final int HOMES = 48;

  private final RamDevice base = new RamDevice("base", Bed.sizeBytes(LOG, HOMES));

  private enum Format {
    NARROW_PLAIN(false, false),
    WIDE_SUMMED(true, true);

    private final boolean checksums;
    private final boolean wide;

    Format(boolean checksums, boolean wide) {
      this.checksums = checksums;
      this.wide = wide;
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void everyCutLeavesAPrefixWithAllThatWasAcknowledged(long seed) throws IOException {
    long theSeed = Seeds.fixed(seed);
    Random random = new Random(theSeed);
    Format format = theSeed % 2 == 0 ? Format.NARROW_PLAIN : Format.WIDE_SUMMED;
    Bed.format(base, LOG);
    RecordingDevice device =
        new RecordingDevice(new OverlayDevice(DelegatingDevice.withoutClose(base)));
    Bed bed = Bed.on(device, LOG);
    bed.open(Bed.options().withFormat(format.checksums, format.wide));
    JournalModel model = new JournalModel(bed, HOMES, device::ticks, random);
    model.run(400);
    bed.journal.commitRunning().join();
    CutStates states = new CutStates(base, device.log());
    long wraps = bed.journal.statistics().blocksLogged() / LOG;
    assertThat(wraps).as("wraps with seed " + theSeed).isGreaterThanOrEqualTo(3);
    bed.close();
    for (int i = 0; i < 400; i++) {
      long cut = random.nextLong(states.lastTick() + 1);
      String where = "seed " + theSeed + ", cut at tick " + cut + ", state " + i;
      try (BlockDevice state = states.materialise(cut, i)) {
        checkState(state, model, model.acknowledgedAt(cut), where, random);
      }
    }
  }

  private static void checkState(
      BlockDevice state, JournalModel model, long acknowledged, String where, Random random)
      throws IOException {
    Bed after = Bed.on(DelegatingDevice.withoutClose(state), LOG);
    long tid = lastTid(after);
    assertThat(tid).as(where).isGreaterThanOrEqualTo(acknowledged);
    if (random.nextInt(4) == 0) {
      recoverAndCut(state, random);
    }
    RecoveryReport report = Recovery.replay(after.place);
    assertThat(report.damage()).as(where).isNull();
    model.check(after, tid, where);
    Recovery.markEmpty(after.place, report, false);
    assertThat(Recovery.inspect(after.place).needed()).as(where).isFalse();
    if (random.nextInt(4) == 0) {
      secondLife(state, tid, model, where, random);
    }
    after.close();
  }

  /// The last transaction that is durable.
  private static long lastTid(Bed bed) throws IOException {
    long first = JournalSuperblock.sequence(bed.superblock());
    return first + Recovery.inspect(bed.place).transactions() - 1;
  }

  /// Recovers once, and loses some of what that wrote.
  private static void recoverAndCut(BlockDevice state, Random random) throws IOException {
    RecordingDevice device =
        new RecordingDevice(new OverlayDevice(DelegatingDevice.withoutClose(state)));
    try (Bed bed = Bed.on(device, LOG)) {
      bed.recover();
    }
    CutStates cuts = new CutStates(state, device.log());
    try (BlockDevice cut =
        cuts.materialise(random.nextLong(cuts.lastTick() + 1), random.nextLong())) {
      copy(cut, state);
    }
  }

  private static void copy(BlockDevice from, BlockDevice to) throws IOException {
    RamDevice bytes = new RamDevice("bytes", from.sizeBytes());
    from.read(0, bytes.memory());
    to.write(0, java.util.List.of(bytes.memory()), false);
    bytes.close();
  }

  /// Uses the recovered journal again, cuts the power, recovers: nothing of the first life comes
  /// back.
  private static void secondLife(
      BlockDevice state, long tid, JournalModel model, String where, Random random)
      throws IOException {
    Bed bed = Bed.on(DelegatingDevice.withoutClose(state), LOG).open();
    int changes = 1 + random.nextInt(4);
    for (int i = 0; i < changes; i++) {
      // A block of its own content: changes nothing that the model knows.
      try (Handle handle = bed.journal.start(1);
          var buffer = bed.cache.read(bed.home(i))) {
        handle.writeAccess(buffer);
        handle.dirty(buffer);
      }
      if (random.nextBoolean()) {
        bed.journal.commitRunning().join();
      }
    }
    bed.journal.commitRunning().join();
    bed.journal.abort(new IOException("the process is killed"));
    bed.close();
    try (RequestQueue queue = new RequestQueue(state)) {
      JournalPlace place =
          new JournalPlace(
              queue, JournalLocation.contiguous(1, LOG), Bed.BLOCK, state.sizeBytes() / Bed.BLOCK);
      RecoveryReport report = Recovery.replay(place);
      assertThat(report.transactions()).as(where).isBetween(1L, (long) changes);
      assertThat(report.firstTid()).as(where).isGreaterThan(tid);
    }
    Bed after = Bed.on(DelegatingDevice.withoutClose(state), LOG);
    model.check(after, tid, where + ", second life");
    after.close();
  }
}
