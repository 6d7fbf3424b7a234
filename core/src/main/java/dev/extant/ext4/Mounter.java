package dev.extant.ext4;

import dev.extant.block.BlockDevice;
import dev.extant.block.OverlayDevice;
import dev.extant.block.RequestQueue;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.Jbd2Journal;
import dev.extant.journal.Journal;
import dev.extant.journal.JournalOptions;
import dev.extant.journal.JournalPlace;
import dev.extant.journal.NoJournal;
import dev.extant.journal.Recovery;
import dev.extant.journal.RecoveryReport;
import dev.extant.journal.batching.BatchingRules;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// Opens a file system, step by step: superblock and features, journal recovery, the parts, the
/// mark that it is in use, orphans; and closes it in the reverse order.
///
/// Order matters for safety: the journal is replayed before anything but the superblock, the group
/// descriptors and the journal's own inode is believed; the superblock is read again afterwards;
/// the needs_recovery flag is cleared only when what was replayed is durable.
final class Mounter {
  private final BlockDevice device;
  private final MountOptions options;
  private final MultiMountProtection.Sleeper sleeper;
  private RequestQueue queue;
  private BlockDevice overlay;

  /// Null without mmp or read-only.
  private MultiMountProtection protection;

  private MemorySegment superblock;
  private Features features;
  private boolean readOnly;
  private RecoveryReport recovered;
  private int orphansFinished;
  private final List<String> warnings = new ArrayList<>();

  Mounter(BlockDevice device, MountOptions options) {
    this(device, options, Thread::sleep);
  }

  Mounter(BlockDevice device, MountOptions options, MultiMountProtection.Sleeper sleeper) {
    this.device = device;
    this.options = options;
    this.sleeper = sleeper;
  }

  /// Takes the device over: it is closed with the mount, and also when mounting fails.
  Mount mount() throws IOException {
    Mount mount = null;
    try {
      queue = new RequestQueue(device);
      readSuperblock();
      recoverJournal();
      mount = assemble();
      if (!readOnly) {
        orphansFinished =
            mount.begin(device.name(), recovered != null && recovered.journalErrno() != 0);
      }
      return mount;
    } catch (IOException | RuntimeException e) {
      cleanUp(mount, e);
      throw e;
    }
  }

  private void cleanUp(Mount mount, Exception cause) {
    try {
      if (mount != null) {
        mount.release(null);
      } else {
        queue.close();
        giveBack();
        queue.device().close();
      }
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }

  private void giveBack() throws IOException {
    if (protection != null) {
      protection.close();
    }
  }

  MountReport report() {
    return new MountReport(recovered, orphansFinished, warnings);
  }

  private void readSuperblock() throws IOException {
    SuperblockReader.Found found = new SuperblockReader(queue).read();
    superblock = found.bytes();
    features = Superblock.features(superblock);
    features.requireReadable(device.name());
    readOnly =
        options.readOnly()
            || options.noload()
            || device.readOnly()
            || features.readOnlyReason() != null;
    if (features.readOnlyReason() != null && !options.readOnly()) {
      warnings.add(device.name() + ": " + features.readOnlyReason());
    }
    if ((Superblock.state(superblock) & Superblock.STATE_ERRORS) != 0) {
      warnings.add(
          device.name() + ": an earlier mount found errors in the file system; run e2fsck on it");
    }
    if (!readOnly) {
      keepOthersAway();
    }
    if (found.backup()) {
      warnings.add(
          device.name()
              + ": the superblock is damaged; its backup at offset "
              + found.offset()
              + " is used");
      restorePrimary(found);
    }
  }

  private void keepOthersAway() throws IOException {
    protection = MultiMountProtection.claim(device, superblock, options.clock(), sleeper);
    if (protection != null) {
      queue.close();
      queue = new RequestQueue(protection.device());
      superblock = readAgain();
    }
  }

  /// The primary superblock is unreadable, but a backup is well: the journal usually holds the
  /// newest primary; without one the backup takes its place.
  private void restorePrimary(SuperblockReader.Found found) throws IOException {
    if (readOnly) {
      useOverlay();
    }
    MemorySegment primary = MemorySegment.ofArray(new byte[Superblock.SIZE]);
    primary.copyFrom(found.bytes());
    Superblock.groupNr(primary, 0);
    if (features.has(Feature.HAS_JOURNAL)) {
      features = features.with(Feature.NEEDS_RECOVERY);
      Superblock.features(primary, features);
    }
    Superblock.seal(primary);
    queue.write(Superblock.OFFSET, List.of(primary), true);
    superblock = primary;
  }

  private void useOverlay() {
    if (overlay == null) {
      overlay = new OverlayDevice(device);
      queue.close();
      queue = new RequestQueue(overlay);
    }
  }

  private void recoverJournal() throws IOException {
    if (!features.has(Feature.NEEDS_RECOVERY) || options.noload()) {
      return;
    }
    if (!features.has(Feature.HAS_JOURNAL)) {
      throw new FsException(
          Errno.EUCLEAN, device.name() + " needs recovery but has no journal to recover from");
    }
    if (readOnly) {
      useOverlay();
    }
    JournalPlace place = journalPlace(queue, superblock);
    if (!readOnly) {
      refuseLoss(Recovery.inspect(place));
    }
    recovered = Recovery.replay(place);
    superblock = readAgain();
    if (recovered.damage() != null) {
      warnings.add(recovered.damage());
    }
    if (recovered.fastCommits() != null) {
      warnings.add(recovered.fastCommits() + "; what was synced last is missing here");
    }
    if (recovered.journalErrno() != 0) {
      warnings.add(
          device.name()
              + ": an earlier mount ended with error "
              + recovered.journalErrno()
              + "; run e2fsck on it");
    }
    Recovery.markEmpty(place, recovered, true);
  }

  /// What was durable in the log and cannot be read any more cannot be left out silently: e2fsck,
  /// or looking at it read-only, is the user's choice.
  private static void refuseLoss(RecoveryReport report) throws FsException {
    if (report.fastCommits() != null) {
      throw new FsException(
          Errno.EOPNOTSUPP, report.fastCommits() + ", or mount it read-only without them");
    }
    if (report.damage() != null) {
      throw new FsException(
          Errno.EUCLEAN, report.damage() + "; mount it read-only, or run e2fsck on it");
    }
  }

  private MemorySegment readAgain() throws IOException {
    MemorySegment bytes = new SuperblockReader(queue).read().bytes();
    features = Superblock.features(bytes);
    features.requireReadable(device.name());
    return bytes;
  }

  /// Where the journal lies, by its inode, read with parts that are thrown away afterwards.
  static JournalPlace journalPlace(RequestQueue queue, MemorySegment superblock)
      throws IOException {
    long ino = Superblock.journalInode(superblock);
    if (ino == 0) {
      throw externalJournal(queue.device().name(), superblock);
    }
    return JournalInode.locate(queue, superblock, ino);
  }

  private static FsException externalJournal(String name, MemorySegment superblock) {
    boolean needed = Superblock.features(superblock).has(Feature.NEEDS_RECOVERY);
    return new FsException(
        Errno.EOPNOTSUPP,
        "%s has an external journal (device 0x%x), which is not supported; "
                .formatted(name, Superblock.journalDevice(superblock))
            + (needed
                ? "what is in it must be replayed by e2fsck, or left out with the option noload"
                : "it can only be opened read-only"));
  }

  private Mount assemble() throws IOException {
    Health health = new Health(readOnly, features.readOnlyReason(), options.errors());
    return new Mount(queue, superblock, options, health, protection, this::openJournal);
  }

  private Journal openJournal(BufferCache buffers) throws IOException {
    if (options.ignoreJournal() || readOnly) {
      return new NoJournal(queue, buffers);
    }
    return openJournal(queue, superblock, buffers, options);
  }

  /// The journal of a file system whose log is empty; one without a log where there is none.
  static Journal openJournal(
      RequestQueue queue, MemorySegment superblock, BufferCache buffers, MountOptions options)
      throws IOException {
    Features features = Superblock.features(superblock);
    if (!features.has(Feature.HAS_JOURNAL)) {
      return new NoJournal(queue, buffers);
    }
    JournalOptions journalOptions =
        JournalOptions.of(queue.device().name())
            .withCommitIntervalSeconds(options.commitIntervalSeconds())
            .withBarrier(options.barrier())
            .withFormat(features.has(Feature.METADATA_CSUM), features.has(Feature.BIT64))
            .withBatching(BatchingRules.create(options.batching()))
            .withClock(options.clock());
    return Jbd2Journal.open(journalPlace(queue, superblock), buffers, journalOptions);
  }
}
