package dev.extant.testkit;

import dev.extant.block.BlockDevice;
import dev.extant.block.FileDevice;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// Image files from devices, for programs that can only look at files.
public final class Images {
  private static final int CHUNK_BYTES = 64 << 10;

  private Images() {}

  /// Fails the test unless `e2fsck -fn` finds nothing on the device; skips it where there is no
  /// e2fsck.
  public static void requireClean(BlockDevice device) throws IOException {
    Path image = Files.createTempFile("extant-checked", ".img");
    try {
      copy(device, image);
      Oracles.run("e2fsck", "-fn", image).expect(0);
    } finally {
      Files.delete(image);
    }
  }

  /// Copies the device to an image file, which is made or emptied first. Zeroes stay holes.
  public static void copy(BlockDevice source, Path image) throws IOException {
    try (Arena arena = Arena.ofShared();
        FileDevice target = FileDevice.create(image, source.sizeBytes())) {
      MemorySegment buffer = arena.allocate(CHUNK_BYTES, 4096);
      MemorySegment zeroes = arena.allocate(CHUNK_BYTES, 4096);
      for (long at = 0; at < source.sizeBytes(); at += CHUNK_BYTES) {
        long length = Math.min(CHUNK_BYTES, source.sizeBytes() - at);
        MemorySegment chunk = buffer.asSlice(0, length);
        source.read(at, chunk);
        if (chunk.mismatch(zeroes.asSlice(0, length)) >= 0) {
          target.write(at, List.of(chunk), false);
        }
      }
    }
  }
}
