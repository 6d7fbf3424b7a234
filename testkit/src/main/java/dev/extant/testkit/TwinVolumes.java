package dev.extant.testkit;

import dev.extant.block.BlockDevice;
import dev.extant.vfs.AttributeChange;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.MountOptions.AccessTime;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import dev.extant.vfs.VolumeStatistics;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// A volume under test beside its model, both brought to the same state by the same calls. Knows
/// what may differ: the volume may be full.
final class TwinVolumes {
  static final FileName LOST_AND_FOUND = FileName.of("lost+found");

  private static final int HISTORY = 40;

  /// Fewer free blocks than this may be spoken for: by indexes, by what waits for a commit.
  private static final long FULL_BLOCKS = 64;

  interface Call<T> {
    T run() throws FsException;
  }

  interface Action {
    void run() throws FsException;
  }

  /// What a call gave; `errno` null unless it was refused.
  record Outcome<T>(T value, Errno errno, FsException refusal) {
    boolean refused() {
      return errno != null;
    }

    @Override
    public String toString() {
      return refused() ? errno + " (" + refusal.getMessage() + ")" : "success";
    }
  }

  private final DeviceOpener opener;
  private final BlockDevice device;
  private final MountOptions options;
  private final SettableClock clock = new SettableClock(Instant.parse("2025-03-01T12:00:00.5Z"));
  private final ArrayDeque<String> history = new ArrayDeque<>();
  private final Volume model;
  private Volume real;
  private long operations;
  private long refused;
  private long full;

  TwinVolumes(DeviceOpener opener, BlockDevice device, long maxFileBytes) throws IOException {
    this.opener = opener;
    this.device = device;
    this.options =
        MountOptions.builder()
            .commitIntervalSeconds(0)
            .accessTime(AccessTime.NOATIME)
            .cacheBytes(16L << 20)
            .clock(clock)
            .build();
    this.model = new MemoryVolume(options, 1L << 40, maxFileBytes);
    open();
    adoptRoot();
  }

  private void open() throws IOException {
    real = opener.open(DelegatingDevice.withoutClose(device), options);
  }

  /// The root directory was made elsewhere, and `lost+found` in it.
  private void adoptRoot() throws FsException {
    try (Node modelRoot = model.root();
        Node realRoot = real.root()) {
      List<FileName> found = new ArrayList<>();
      real.readDirectory(realRoot, 0, (name, ino, type, cookie) -> found.add(name));
      if (found.contains(LOST_AND_FOUND)) {
        try (Node modelNode = model.mkdir(modelRoot, LOST_AND_FOUND, new NewFile(0700, 0, 0));
            Node realNode = real.lookup(realRoot, LOST_AND_FOUND)) {
          align(modelNode, realNode);
        }
      }
      align(modelRoot, realRoot);
    }
  }

  private void align(Node modelNode, Node realNode) throws FsException {
    Instant now = clock.instant();
    AttributeChange change = new AttributeChange(0755, 0L, 0L, now, now, now);
    model.setAttributes(modelNode, change);
    real.setAttributes(realNode, change);
  }

  Volume model() {
    return model;
  }

  Volume real() {
    return real;
  }

  SettableClock clock() {
    return clock;
  }

  long operations() {
    return operations;
  }

  long refused() {
    return refused;
  }

  long full() {
    return full;
  }

  /// Notes an operation, for the message of a failure.
  void note(String operation) {
    operations++;
    if (history.size() == HISTORY) {
      history.removeFirst();
    }
    history.addLast(operations + " " + Abbreviation.of(operation));
  }

  String history() {
    return String.join("\n  ", history);
  }

  void amend(String outcome) {
    history.addLast(history.removeLast() + " -> " + Abbreviation.of(outcome));
  }

  /// Runs a call on the volume and, unless that was full, on the model. Null if it was refused;
  /// both must have had the same reason.
  <T> Both<T> both(Call<T> onModel, Call<T> onReal) throws FsException {
    Outcome<T> found = outcome(onReal);
    amend(found.toString());
    if (found.errno() == Errno.ENOSPC) {
      requireFull(found);
      return null;
    }
    Outcome<T> expected = outcome(onModel);
    if (!Objects.equals(expected.errno(), found.errno())) {
      throw new AssertionError("expected " + expected + ", found " + found, found.refusal());
    }
    if (found.refused()) {
      refused++;
      return null;
    }
    return new Both<>(expected.value(), found.value());
  }

  record Both<T>(T model, T real) {}

  /// True if done, false if refused.
  boolean bothDo(Action onModel, Action onReal) throws FsException {
    return both(() -> run(onModel), () -> run(onReal)) != null;
  }

  private static Boolean run(Action action) throws FsException {
    action.run();
    return true;
  }

  static <T> Outcome<T> outcome(Call<T> call) {
    try {
      return new Outcome<>(call.run(), null, null);
    } catch (FsException e) {
      return new Outcome<>(null, e.errno(), e);
    }
  }

  /// An operation was refused or cut short for lack of space, which must be true.
  void requireFull(Object found) throws FsException {
    full++;
    VolumeStatistics figures = real.statistics();
    if (figures.freeBlocks() > FULL_BLOCKS && figures.freeInodes() > 0) {
      throw new AssertionError("full, but it is not: " + found + ", " + figures);
    }
  }

  /// Closes the volume and mounts it again.
  void reopen() throws IOException {
    close();
    open();
  }

  void close() throws FsException {
    real.close();
  }

  /// Ends the volume's threads after a failure.
  void abandon(Throwable failure) {
    try {
      real.close();
    } catch (FsException e) {
      failure.addSuppressed(e);
    }
  }
}
