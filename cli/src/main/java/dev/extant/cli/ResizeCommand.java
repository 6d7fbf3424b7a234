package dev.extant.cli;

import dev.extant.Extant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant resize`.
@Command(
    name = "resize",
    description = "Changes the size of a file system, and of its image file.",
    footer = {"", "The file system must not be mounted."})
final class ResizeCommand extends SubCommand {
  @Option(names = "-q", description = "Says nothing.")
  private boolean quiet;

  @Parameters(index = "0", paramLabel = "IMAGE")
  private Path image;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "SIZE",
      converter = Sizes.Converter.class,
      description = "Like 256M or 10T; left out, the size that the image has.")
  private Long sizeBytes;

  @Override
  void run() throws IOException {
    long wanted = sizeBytes == null ? Files.size(image) : sizeBytes;
    long reached = Extant.resize(image, wanted);
    if (!quiet) {
      console().printLine(image + ": " + Sizes.human(reached));
    }
  }
}
