package dev.extant.cli;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.SplittableRandom;

/// The files that the demo's writers store. Writer and number say all about a file, its name and
/// its bytes, so nothing need be remembered to check it.
///
/// A writer keeps its newest `kept` files and deletes older ones, so that the image does not fill.
final class StoredFiles {
  private static final int MAX_BYTES = 4096;

  private final FileSystem fileSystem;
  private final String series;
  private final int kept;

  /// `series` names one run of the writers; each has its own directory.
  StoredFiles(FileSystem fileSystem, String series, int kept) {
    this.fileSystem = fileSystem;
    this.series = series;
    this.kept = kept;
  }

  private Path directory(int writer) {
    return fileSystem.getPath("/", series, String.format("writer-%04d", writer));
  }

  private Path path(int writer, long number) {
    return directory(writer).resolve(String.format("file-%07d", number));
  }

  private byte[] content(int writer, long number) {
    SplittableRandom random =
        new SplittableRandom(series.hashCode() + 31L * writer + (number << 20));
    byte[] bytes = new byte[1 + random.nextInt(MAX_BYTES)];
    random.nextBytes(bytes);
    return bytes;
  }

  void makeDirectories(int writers) throws IOException {
    for (int writer = 0; writer < writers; writer++) {
      Files.createDirectories(directory(writer));
    }
  }

  /// Returns when the file is durable: name, size and bytes.
  void store(int writer, long number) throws IOException {
    if (number >= kept) {
      Files.delete(path(writer, number - kept));
    }
    try (FileChannel channel =
        FileChannel.open(
            path(writer, number), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      ByteBuffer bytes = ByteBuffer.wrap(content(writer, number));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
  }

  /// The number of the oldest file that must be there when so many are acknowledged: the next one
  /// may have been under way, and then the oldest was deleted for it.
  long oldest(long acknowledged) {
    return Math.max(0, acknowledged - kept + 1);
  }

  /// Null if the file is there with its bytes, else what is wrong with it.
  String problem(int writer, long number) throws IOException {
    Path path = path(writer, number);
    try {
      byte[] bytes = Files.readAllBytes(path);
      byte[] expected = content(writer, number);
      if (Arrays.equals(bytes, expected)) {
        return null;
      }
      return path
          + " has other bytes than were written ("
          + bytes.length
          + " of "
          + expected.length
          + " bytes, first difference at "
          + Arrays.mismatch(bytes, expected)
          + ")";
    } catch (NoSuchFileException e) {
      return path + " is missing";
    }
  }

  boolean exists(int writer, long number) {
    return Files.exists(path(writer, number));
  }
}
