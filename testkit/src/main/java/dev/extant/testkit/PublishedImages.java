package dev.extant.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Assumptions;

/// The test images of e2fsprogs and what e2fsck says of each, which are not part of this
/// repository. Where they are: the system property `extant.images`, the environment variable
/// EXTANT_IMAGES, or `shared/images` beside the repository.
public final class PublishedImages {
  private static final int CHUNK_BYTES = 64 << 10;

  /// `exitCode` is that of e2fsck -fn; null if it did not end.
  public record Entry(String name, Integer exitCode) {
    public boolean clean() {
      return exitCode != null && exitCode == 0;
    }
  }

  private final Path folder;

  private PublishedImages(Path folder) {
    this.folder = folder;
  }

  /// Skips the test if the images are not there.
  public static PublishedImages require() {
    Optional<Path> folder =
        Stream.of(System.getProperty("extant.images"), System.getenv("EXTANT_IMAGES"))
            .filter(name -> name != null)
            .map(Path::of)
            .findFirst()
            .or(PublishedImages::beside);
    Assumptions.assumeTrue(
        folder.map(path -> path.resolve("MANIFEST.tsv")).filter(Files::exists).isPresent(),
        "missing: the test images of e2fsprogs (EXTANT_IMAGES)");
    return new PublishedImages(folder.get());
  }

  private static Optional<Path> beside() {
    return Stream.iterate(Path.of("").toAbsolutePath(), path -> path != null, Path::getParent)
        .map(path -> path.resolve("shared/images"))
        .filter(Files::isDirectory)
        .findFirst();
  }

  public List<Entry> entries() throws IOException {
    List<Entry> entries = new ArrayList<>();
    List<String> lines = Files.readAllLines(folder.resolve("MANIFEST.tsv"));
    int column = Arrays.asList(lines.getFirst().split("\t")).indexOf("e2fsck_fn");
    for (String line : lines.subList(1, lines.size())) {
      String[] fields = line.split("\t");
      String code = fields[column];
      entries.add(new Entry(fields[0], code.matches("\\d+") ? Integer.valueOf(code) : null));
    }
    return entries;
  }

  /// Unpacks an image; zeroes become holes.
  public void unpack(String name, Path image) throws IOException {
    try (InputStream in =
            new GZIPInputStream(
                Files.newInputStream(folder.resolve(name + ".img.gz")), CHUNK_BYTES);
        FileChannel out =
            FileChannel.open(image, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      byte[] zeroes = new byte[CHUNK_BYTES];
      long at = 0;
      for (byte[] chunk = in.readNBytes(CHUNK_BYTES);
          chunk.length > 0;
          chunk = in.readNBytes(CHUNK_BYTES)) {
        boolean last = chunk.length < CHUNK_BYTES;
        if (last || !Arrays.equals(chunk, zeroes)) {
          out.write(ByteBuffer.wrap(chunk), at);
        }
        at += chunk.length;
      }
      if (out.size() < at) {
        out.write(ByteBuffer.wrap(new byte[1]), at - 1);
      }
    }
  }
}
