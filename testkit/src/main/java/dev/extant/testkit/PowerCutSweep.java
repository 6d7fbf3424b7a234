package dev.extant.testkit;

import dev.extant.block.BlockDevice;
import dev.extant.block.OverlayDevice;
import dev.extant.vfs.AttributeChange;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// Runs a random workload once, recording what the device was asked, and then looks at what a power
/// cut at any moment of it would have left behind.
///
/// What must hold in every state that [CutStates] gives, after the volume was mounted again:
///
/// 1. Every name and byte whose fsync or sync was acknowledged is there, in the place it was last
///    moved to, and what was removed before it is not.
/// 2. The names of each worker are those after some number of its operations, no fewer than were
///    acknowledged ([TrackedNames]); every byte of a file was its content at some time since the
///    last acknowledged one ([TrackedContent]): nothing of other or deleted files shows up, unless
///    it is data=writeback.
/// 3. Files that nobody touched are as they were, and there is nothing else.
/// 4. The volume takes new files, and closes.
///
/// The state may be looked at by others as well, before ([#materialise]) and after ([#recover]):
/// e2fsck, the kernel. With one worker a seed gives the same workload every time; how the threads
/// of an implementation share the device still is not in its hands.
///
/// A long run, from the project's root (`extant.cuts` is the number for each variant):
///
/// ```
/// mvn -q -pl core,testkit -am test -Dtest=PowerCutSweepTest \
///     -Dsurefire.failIfNoSpecifiedTests=false -Dextant.cuts=10000 -Dextant.seed=7
/// ```
public final class PowerCutSweep {
  /// Who works how much, on a volume mounted how. The operations are those of each worker; most
  /// writes are of no more than `typicalBytes`. `unitBytes` is the largest that a block or cluster
  /// of the file system may be.
  public record Workload(
      int workers,
      int operations,
      String mountOptions,
      long seed,
      int typicalBytes,
      int unitBytes) {
    private static final int USUAL_UNIT_BYTES = 4096;

    public Workload(int workers, int operations, String mountOptions, long seed) {
      this(workers, operations, mountOptions, seed, CrashWorker.TYPICAL_WRITE_BYTES);
    }

    public Workload(int workers, int operations, String mountOptions, long seed, int typicalBytes) {
      this(workers, operations, mountOptions, seed, typicalBytes, USUAL_UNIT_BYTES);
    }

    public Workload withUnitBytes(int value) {
      return new Workload(workers, operations, mountOptions, seed, typicalBytes, value);
    }
  }

  private final DeviceOpener opener;
  private final Workload workload;
  private final MountOptions options;
  private final OverlayDevice base;
  private final TreeSnapshot staticFiles;
  private final List<CrashWorker> workers = new ArrayList<>();
  private CutStates states;

  /// Prepares the file system on `device`, which must be empty; the device itself stays as it is.
  public PowerCutSweep(DeviceOpener opener, BlockDevice device, Workload workload)
      throws IOException {
    this.opener = opener;
    this.workload = workload;
    this.options = MountOptions.parse(workload.mountOptions());
    this.base = new OverlayDevice(DelegatingDevice.withoutClose(device));
    try (Volume volume = open(base)) {
      staticFiles = StaticFiles.make(volume, workload.workers(), workload.seed());
    }
  }

  private Volume open(BlockDevice device) throws IOException {
    return opener.open(DelegatingDevice.withoutClose(device), options);
  }

  /// Puts another device on top of the recording one for the workload.
  public interface Fault {
    BlockDevice over(BlockDevice device);
  }

  /// Runs the workload and closes the volume.
  public void record() throws IOException {
    RecordingDevice device = newRecording();
    try (Volume volume = open(device)) {
      work(volume, device);
    }
    states = new CutStates(base, device.log());
  }

  /// How the volume took it that its device failed: the first error that a worker saw, whether the
  /// volume is read-only, how it refused a change, and the error of closing it. Null where there
  /// was none.
  public record Aftermath(
      IOException work, boolean readOnly, FsException refusal, IOException close) {}

  /// Runs the workload on a device that fails at some time.
  public Aftermath record(Fault fault) throws IOException {
    RecordingDevice device = newRecording();
    IOException workError = null;
    IOException closeError = null;
    Volume volume = open(fault.over(device));
    try {
      work(volume, device);
    } catch (IOException e) {
      workError = e;
    }
    FsException refusal = workError == null ? null : refusal(volume);
    boolean readOnly = volume.readOnly();
    try {
      volume.close();
    } catch (IOException e) {
      closeError = e;
    }
    states = new CutStates(base, device.log());
    return new Aftermath(workError, readOnly, refusal, closeError);
  }

  /// How a change is refused, null if it is not.
  private static FsException refusal(Volume volume) throws FsException {
    try (Node root = volume.root()) {
      volume.setAttributes(root, AttributeChange.permissions(0755));
      volume.fsync(root, false).join();
      return null;
    } catch (CompletionException e) {
      return e.getCause() instanceof FsException refusal ? refusal : null;
    } catch (FsException e) {
      return e;
    }
  }

  private RecordingDevice newRecording() {
    return new RecordingDevice(new OverlayDevice(DelegatingDevice.withoutClose(base)));
  }

  private void work(Volume volume, RecordingDevice device) throws IOException {
    SplittableRandom random = new SplittableRandom(workload.seed());
    for (int i = 0; i < workload.workers(); i++) {
      workers.add(
          new CrashWorker(i, volume, device::ticks, random.split(), workload.typicalBytes()));
    }
    try {
      if (workload.workers() == 1) {
        workers.getFirst().run(workload.operations());
      } else {
        workTogether();
      }
    } finally {
      workers.forEach(CrashWorker::finish);
    }
  }

  private void workTogether() throws IOException {
    List<Future<?>> runs = new ArrayList<>();
    IOException failure = null;
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (CrashWorker worker : workers) {
        runs.add(
            threads.submit(
                () -> {
                  worker.run(workload.operations());
                  return null;
                }));
      }
    }
    for (Future<?> run : runs) {
      failure = failureOf(run, failure);
    }
    if (failure != null) {
      throw failure;
    }
  }

  private static IOException failureOf(Future<?> run, IOException first) {
    try {
      run.get();
      return first;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException io) {
        return first == null ? io : first;
      }
      throw new AssertionError("a worker failed", e.getCause());
    }
  }

  /// The moment after the last operation of the device.
  public long lastTick() {
    return states.lastTick();
  }

  /// What may be left after a cut.
  public BlockDevice materialise(long cutTick, long stateSeed) throws IOException {
    return states.materialise(cutTick, stateSeed);
  }

  /// What is left of `state` if the power fails again while it is mounted and closed.
  public BlockDevice cutAgain(BlockDevice state, long seed) throws IOException {
    RecordingDevice device =
        new RecordingDevice(new OverlayDevice(DelegatingDevice.withoutClose(state)));
    open(device).close();
    CutStates again = new CutStates(state, device.log());
    return again.materialise(new SplittableRandom(seed).nextLong(again.lastTick() + 1), seed);
  }

  /// Mounts the state, checks it, shows that it can be used, and closes it.
  public void recover(BlockDevice state, long cutTick) throws IOException {
    try (Volume volume = open(state)) {
      check(TreeSnapshot.of(volume), cutTick);
      use(volume);
    }
  }

  private static void use(Volume volume) throws FsException {
    FileName name = FileName.of("after the cut");
    try (Node root = volume.root();
        Node file = volume.create(root, name, new NewFile(0600, 0, 0))) {
      volume.append(file, MemorySegment.ofArray(new byte[10_000]));
      volume.fsync(file, false).join();
      volume.unlink(root, name);
    }
  }

  /// Checks what is there after a cut at the tick.
  ///
  /// @throws AssertionError saying what is wrong
  public void check(TreeSnapshot tree, long cutTick) {
    TreeMap<String, TreeSnapshot.Entry> left = new TreeMap<>(tree.entries());
    TrackedContent.Allowance allowance =
        new TrackedContent.Allowance(
            options.data() != MountOptions.DataMode.WRITEBACK, workload.unitBytes());
    String difference = StaticFiles.takeOut(staticFiles, left);
    for (CrashWorker worker : workers) {
      TreeMap<String, TreeSnapshot.Entry> own = new TreeMap<>(left);
      own.keySet().removeIf(path -> !worker.owns(path));
      left.keySet().removeIf(worker::owns);
      if (difference == null) {
        difference = worker.names().difference(own, cutTick, allowance);
      }
    }
    if (difference == null && !left.isEmpty()) {
      difference = "nobody made " + left.keySet();
    }
    if (difference != null) {
      throw new AssertionError(Abbreviation.of(difference));
    }
  }
}
