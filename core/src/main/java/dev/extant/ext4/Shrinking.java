package dev.extant.ext4;

import dev.extant.block.BlockDevice;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.Superblock;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import java.io.IOException;

/// Makes a file system that is not mounted smaller.
///
/// First everything that lies behind the new end moves in front of it, in mounts whose allocator
/// gives out nothing else: at any moment this is a file system of the old size. Then one
/// transaction cuts the groups off ([GroupCut]). A power cut leaves the old size or the new one,
/// and shrinking again goes on where it ended.
final class Shrinking {
  private final BlockDevice device;
  private final MountOptions options;

  Shrinking(BlockDevice device, MountOptions options) {
    this.device = device;
    this.options = options;
  }

  private interface Work<T> {
    T run(Mount mount) throws IOException;
  }

  private <T> T mounted(MountOptions how, Work<T> work) throws IOException {
    Mount mount = new Mounter(new BorrowedDevice(device), how).mount();
    T result;
    try {
      result = work.run(mount);
    } catch (IOException | RuntimeException e) {
      try {
        mount.unmount();
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
    mount.unmount();
    return result;
  }

  /// The least number of blocks, estimated; writes nothing.
  long minimumBlocks() throws IOException {
    return mounted(options.withReadOnly(true), mount -> new MinimumSize(mount).blocks());
  }

  /// Shrinks to `blocksCount` blocks, or a few less if the layout does not allow those. EINVAL,
  /// naming the least size, if that is too small; does nothing if it is not smaller.
  ///
  /// In steps: the groups that one step gives up may have had their inode tables in others
  /// (flex_bg), which makes room for the next one.
  void shrinkTo(long blocksCount) throws IOException {
    boolean more = possible(blocksCount);
    while (more) {
      long step = mounted(options.withReadOnly(true), mount -> new MinimumSize(mount).nextStep());
      boolean shrunk = shrinkStep(Math.max(blocksCount, step));
      more = step > blocksCount;
      if (more && !shrunk) {
        throw new FsException(
            Errno.ENOSPC,
            device.name() + " has become smaller, but cannot become as small as that");
      }
    }
  }

  /// False if there is nothing to do.
  private boolean shrinkStep(long blocksCount) throws IOException {
    try (OfflineEdit edit = OfflineEdit.open(device, options, () -> prepare(blocksCount))) {
      SizePlan plan = SizePlan.shrinkage(edit.superblockBytes(), blocksCount);
      if (plan != null) {
        new GroupCut(edit, plan).run();
      }
      edit.done();
      return plan != null;
    }
  }

  /// Writes nothing.
  private boolean possible(long blocksCount) throws IOException {
    return mounted(
        options.withReadOnly(true),
        mount -> {
          SizePlan plan = plan(mount, blocksCount);
          if (plan != null) {
            requirePossible(mount, plan.after());
          }
          return plan != null;
        });
  }

  private void requirePossible(Mount mount, Geometry after) throws IOException {
    long least = new MinimumSize(mount).blocks();
    if (after.blocksCount() < least) {
      throw new FsException(
          Errno.EINVAL,
          device.name()
              + " cannot become smaller than "
              + least * after.blockSizeBytes()
              + " bytes, since what it holds needs them");
    }
  }

  /// Moves what lies behind the new end.
  private void prepare(long blocksCount) throws IOException {
    SizePlan plan = mounted(options, mount -> plan(mount, blocksCount));
    if (plan != null) {
      long limit = plan.after().blocksCount();
      if (Superblock.features(plan.superblock()).has(Feature.HAS_JOURNAL)) {
        moveJournal(limit);
      }
      mounted(
          options,
          mount -> {
            new Relocation(mount, limit).run();
            return null;
          });
    }
  }

  private static SizePlan plan(Mount mount, long blocksCount) throws FsException {
    return SizePlan.shrinkage(mount.superblock.bytes(), blocksCount);
  }

  private void moveJournal(long limit) throws IOException {
    JournalMove.Step change =
        mounted(options, mount -> JournalMove.in(mount, move -> move.prepare(limit)));
    if (change == null) {
      return;
    }
    try (OfflineEdit edit = OfflineEdit.open(device, options)) {
      change.run(edit);
    }
    mounted(
        options,
        mount ->
            JournalMove.in(
                mount,
                move -> {
                  move.shorten();
                  return null;
                }));
  }

  /// Shrinks as far as possible. What was estimated before the journal moved may be too large, and
  /// anything may be too small.
  void shrinkToMinimum() throws IOException {
    long spare = 0;
    long blocks = Long.MAX_VALUE;
    long wanted = minimumBlocks();
    while (wanted < blocks - MinimumSize.SPARE_CLUSTERS) {
      try {
        shrinkTo(wanted);
        blocks = wanted;
      } catch (FsException e) {
        if (e.errno() != Errno.ENOSPC) {
          throw e;
        }
        spare += Math.max(MinimumSize.SPARE_CLUSTERS, wanted / 50);
      }
      wanted = minimumBlocks() + spare;
    }
  }
}
