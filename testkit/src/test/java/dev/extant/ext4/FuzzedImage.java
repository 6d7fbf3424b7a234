package dev.extant.ext4;

import dev.extant.block.BlockDevice;
import dev.extant.block.RamDevice;
import dev.extant.fsck.Fsck;
import dev.extant.fsck.FsckOptions;
import dev.extant.fsck.FsckProgress;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.ImageWalk;
import dev.extant.vfs.AllocateMode;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.RenameMode;
import dev.extant.vfs.Volume;
import dev.extant.vfs.XattrMode;
import dev.extant.vfs.XattrName;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.time.InstantSource;

/// Everything that is done to one damaged image: it is checked, read, and changed. What is thrown
/// is what must not be.
final class FuzzedImage {
  private static final ImageWalk.Limits LIMITS = new ImageWalk.Limits(600, 1 << 20);
  private static final FsckOptions CHECK = FsckOptions.defaults().withThreads(1);
  private static final NewFile FILE = new NewFile(0644, 0, 0);
  private static final MountOptions WRITABLE =
      MountOptions.builder()
          .clock(InstantSource.fixed(Instant.ofEpochSecond(1_760_000_000)))
          .commitIntervalSeconds(0)
          .cacheBytes(4 << 20)
          .build();
  private static final MountOptions READ_ONLY = WRITABLE.toBuilder().readOnly(true).build();
  private static final MountOptions NOLOAD = WRITABLE.toBuilder().noload(true).build();

  private final BlockDevice device;
  private int opened;

  FuzzedImage(RamDevice device) {
    this.device = DelegatingDevice.withoutClose(device);
  }

  /// Returns how often a mount succeeded.
  int run() {
    Fsck.check(device, CHECK, FsckProgress.NONE);
    read(READ_ONLY);
    read(NOLOAD);
    attempt(() -> change(mount(WRITABLE)));
    read(READ_ONLY);
    return opened;
  }

  private Ext4Volume mount(MountOptions options) throws FsException {
    Ext4Volume volume = Ext4.mount(new Mounter(device, options, _ -> {}));
    opened++;
    return volume;
  }

  private interface Step {
    void run() throws FsException;
  }

  private static void attempt(Step step) {
    try {
      step.run();
    } catch (FsException refused) {
      requireTyped(refused);
    }
  }

  /// Nothing that went wrong unforeseen is hidden behind it.
  private static void requireTyped(FsException refused) {
    if (refused.getMessage() == null || refused.getMessage().isBlank()) {
      throw new AssertionError("a refusal without a sentence", refused);
    }
    for (Throwable cause = refused; cause != null; cause = cause.getCause()) {
      if (!(cause instanceof IOException)) {
        throw new AssertionError("a refusal that hides another error", refused);
      }
    }
  }

  private void read(MountOptions options) {
    attempt(
        () -> {
          Ext4Volume volume = mount(options);
          try {
            ImageWalk.of(volume, LIMITS);
          } finally {
            close(volume);
          }
        });
  }

  private static void close(Volume volume) {
    attempt(volume::close);
  }

  private void change(Volume volume) throws FsException {
    try (Node root = volume.root()) {
      attempt(() -> makeAndChange(volume, root));
      attempt(() -> volume.unlink(root, FileName.of("hard")));
      attempt(() -> inside(volume, root, "many"));
      attempt(() -> inside(volume, root, "deep"));
      attempt(() -> existing(volume, root, "sparse"));
      attempt(() -> existing(volume, root, "large"));
      attempt(() -> existing(volume, root, "new"));
      attempt(() -> volume.unlink(root, FileName.of("large")));
      attempt(() -> volume.unlink(root, FileName.of("long")));
      attempt(volume::sync);
      attempt(() -> volume.unlink(root, FileName.of("sparse")));
    } finally {
      close(volume);
    }
  }

  private static void makeAndChange(Volume volume, Node root) throws FsException {
    try (Node file = volume.create(root, FileName.of("new"), FILE)) {
      attempt(() -> volume.write(file, 0, MemorySegment.ofArray(new byte[5000])));
      attempt(() -> volume.link(file, root, FileName.of("new-link")));
      attempt(() -> volume.setXattr(file, XattrName.of("user.a"), new byte[400], XattrMode.SET));
    }
    attempt(() -> volume.mkdir(root, FileName.of("new-directory"), FILE).close());
    rename(volume, root, "new", "moved", RenameMode.REPLACE);
    rename(volume, root, "deep", "deeper", RenameMode.NO_REPLACE);
    rename(volume, root, "deeper", "deep", RenameMode.REPLACE);
    rename(volume, root, "many", "deep", RenameMode.EXCHANGE);
  }

  private static void rename(
      Volume volume, Node directory, String from, String to, RenameMode mode) {
    attempt(() -> volume.rename(directory, FileName.of(from), directory, FileName.of(to), mode));
  }

  private static void inside(Volume volume, Node root, String name) throws FsException {
    try (Node directory = volume.lookup(root, FileName.of(name))) {
      for (int i = 0; i < 6; i++) {
        String inside = "inside-" + i + "y".repeat(200);
        attempt(() -> volume.create(directory, FileName.of(inside), FILE).close());
      }
      attempt(() -> volume.unlink(directory, FileName.of("name-3-" + "x".repeat(150))));
      attempt(() -> volume.removeXattr(directory, XattrName.of("user.small")));
      attempt(() -> volume.rmdir(directory, FileName.of("er")));
    }
  }

  private static void existing(Volume volume, Node root, String name) throws FsException {
    try (Node file = volume.lookup(root, FileName.of(name))) {
      attempt(() -> volume.write(file, 50_000, MemorySegment.ofArray(new byte[3000])));
      attempt(() -> volume.append(file, MemorySegment.ofArray(new byte[700])));
      attempt(() -> volume.allocate(file, AllocateMode.PUNCH_HOLE, 8000, 20_000));
      attempt(() -> volume.allocate(file, AllocateMode.ZERO_RANGE, 30_000, 5000));
      attempt(() -> volume.setXattr(file, XattrName.of("user.b"), new byte[30], XattrMode.SET));
      attempt(() -> volume.removeXattr(file, XattrName.of("user.big")));
      attempt(() -> volume.truncate(file, 4000));
    }
  }
}
