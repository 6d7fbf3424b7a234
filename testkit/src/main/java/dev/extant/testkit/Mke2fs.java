package dev.extant.testkit;

import dev.extant.block.RamDevice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Images made by mke2fs, the same for the same options.
public final class Mke2fs {
  private static final String UUID = "6d6b6532-6673-4000-8000-000000000001";

  private Mke2fs() {}

  /// Makes an image file anew. `options` as on the command line, in single words; ext4 unless they
  /// begin with a type; `size` as at its end.
  public static Path make(Path image, String options, String size) throws IOException {
    Files.deleteIfExists(image);
    List<String> command = new ArrayList<>();
    command.add(Oracles.find("mke2fs").orElseThrow().toString());
    command.addAll(List.of("-q", "-F", "-U", UUID));
    if (!options.startsWith("-t ")) {
      command.addAll(List.of("-t", "ext4"));
    }
    command.addAll(List.of(options.trim().split("\\s+")));
    command.addAll(List.of(image.toString(), size));
    Oracles.run(command, Map.of("E2FSPROGS_FAKE_TIME", "1700000000")).expect(0);
    return image;
  }

  /// The image in memory.
  public static RamDevice load(Path image) throws IOException {
    try (FileChannel channel = FileChannel.open(image)) {
      RamDevice device = new RamDevice(image.toString(), channel.size());
      ByteBuffer bytes = device.memory().asByteBuffer();
      while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
        // The whole image is read, piece by piece.
      }
      return device;
    }
  }
}
