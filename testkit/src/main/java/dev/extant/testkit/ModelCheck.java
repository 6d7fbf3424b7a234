package dev.extant.testkit;

import dev.extant.block.BlockDevice;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.util.SplittableRandom;

/// Random operations on a volume and on its model, a [MemoryVolume]: results and errors are
/// compared one by one, the whole tree now and then, whenever the volume was closed and mounted
/// again, and at the end. A full volume is part of it: what was refused for lack of space changed
/// nothing.
///
/// One thread, and a clock that the operations move: a seed gives the same run every time. A
/// failure is an [AssertionError] that names the seed and shows the last operations.
///
/// ```java
/// ModelCheck.Report report = new ModelCheck(opener, device, seed).run(100_000);
/// ```
///
/// A long run, from the project's root:
///
/// ```
/// mvn -q -pl core,testkit -am test -Dtest=Ext4ModelCheckTest -Dsurefire.failIfNoSpecifiedTests=false \
///     -Dextant.operations=10000000 -Dextant.seed=7
/// ```
public final class ModelCheck {
  /// One in so many operations is followed by closing and mounting.
  private static final int OPERATIONS_PER_REOPEN = 2_500;

  /// What a run did. `refused` operations failed in both for the same reason, `full` ones for lack
  /// of space in the volume.
  public record Report(long operations, long refused, long full, int reopens) {}

  private final DeviceOpener opener;
  private final BlockDevice device;
  private final long seed;
  private final int typicalBytes;
  private long maxFileBytes = MemoryVolume.DEFAULT_MAX_FILE_BYTES;

  /// @param device an empty file system; it stays open
  public ModelCheck(DeviceOpener opener, BlockDevice device, long seed) {
    this(opener, device, seed, RandomOperations.TYPICAL_WRITE_BYTES);
  }

  /// @param typicalBytes most writes are of fewer
  public ModelCheck(DeviceOpener opener, BlockDevice device, long seed, int typicalBytes) {
    this.typicalBytes = typicalBytes;
    this.opener = opener;
    this.device = device;
    this.seed = seed;
  }

  /// For a file system whose largest file is smaller than ext4's.
  public ModelCheck withMaxFileBytes(long value) {
    maxFileBytes = value;
    return this;
  }

  /// Leaves the volume closed.
  public Report run(long operations) throws IOException {
    TwinVolumes twins = new TwinVolumes(opener, device, maxFileBytes);
    try {
      return run(twins, operations);
    } catch (AssertionError | IOException | RuntimeException e) {
      twins.abandon(e);
      throw new AssertionError(
          "seed "
              + seed
              + ", "
              + device.name()
              + ": "
              + e.getMessage()
              + "\nLast operations:\n  "
              + twins.history(),
          e);
    }
  }

  private Report run(TwinVolumes twins, long operations) throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    RandomOperations generator = new RandomOperations(twins, random, typicalBytes);
    int reopens = 0;
    while (twins.operations() < operations) {
      generator.next();
      if (random.nextInt(OPERATIONS_PER_REOPEN) == 0) {
        reopen(twins, generator, random);
        reopens++;
      }
    }
    generator.releaseAll();
    twins.note("end");
    compare(twins);
    twins.reopen();
    compare(twins);
    twins.close();
    return new Report(twins.operations(), twins.refused(), twins.full(), reopens);
  }

  private static void reopen(TwinVolumes twins, RandomOperations generator, SplittableRandom random)
      throws IOException {
    boolean inUse = random.nextInt(3) == 0;
    twins.note(inUse ? "reopen with nodes in use" : "reopen");
    if (random.nextInt(3) == 0) {
      compare(twins);
    }
    if (inUse) {
      twins.reopen();
      generator.abandonAll();
    } else {
      generator.releaseAll();
      twins.reopen();
    }
    compare(twins);
    generator.holdRoot();
  }

  private static void compare(TwinVolumes twins) throws FsException {
    TreeComparison.compare(twins.model(), twins.real());
  }
}
