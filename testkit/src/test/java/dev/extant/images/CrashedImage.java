package dev.extant.images;

import dev.extant.Extant;
import dev.extant.block.BlockDevice;
import dev.extant.block.FileDevice;
import dev.extant.block.OverlayDevice;
import dev.extant.testkit.CutStates;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.Images;
import dev.extant.testkit.RecordingDevice;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/// An image as a power cut leaves it right after work that ended with a sync: nothing of the
/// metadata that is only in the journal needs to be at home.
final class CrashedImage {
  /// What is done with a mount before the power is cut.
  interface Work {
    void run(Extant mount) throws IOException;
  }

  private CrashedImage() {}

  /// Replaces nothing: `image` stays, `target` is made. The seed chooses what of the unflushed
  /// writes survives.
  static void make(Path image, Path target, long seed, Work work) throws IOException {
    make(image, target, seed, "data=ordered", work);
  }

  /// With mount options as after `mount -o`.
  static void make(Path image, Path target, long seed, String options, Work work)
      throws IOException {
    make(image, target, seed, MountOptions.parse("commit=0,noatime," + options), work);
  }

  static void make(Path image, Path target, long seed, MountOptions options, Work work)
      throws IOException {
    try (FileDevice base = FileDevice.open(image, true)) {
      RecordingDevice device = new RecordingDevice(new OverlayDevice(shared(base)));
      long cutTick;
      try (Extant mount = Extant.open(device, options)) {
        work.run(mount);
        mount.volume().sync();
        cutTick = device.ticks();
      }
      try (BlockDevice state = new CutStates(base, device.log()).materialise(cutTick, seed)) {
        Images.copy(state, target);
      }
    }
  }

  static BlockDevice shared(BlockDevice base) {
    return DelegatingDevice.withoutClose(base);
  }

  /// The bytes at an offset of an image.
  static byte[] read(Path image, long offset, int length) throws IOException {
    byte[] bytes = new byte[length];
    try (FileDevice device = FileDevice.open(image, true)) {
      device.read(offset, MemorySegment.ofArray(bytes));
    }
    return bytes;
  }

  static void write(Path image, long offset, byte[] bytes) throws IOException {
    try (FileDevice device = FileDevice.open(image, false)) {
      device.write(offset, List.of(MemorySegment.ofArray(bytes)), false);
    }
  }
}
