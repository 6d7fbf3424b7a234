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
    footer = {
      "",
      "The file system must not be mounted. When it becomes smaller, what lies behind the new end",
      "is moved first; after a power cut it has the old size or a smaller one and has lost",
      "nothing, and the same command goes on."
    })
final class ResizeCommand extends SubCommand {
  @Option(names = "-q", description = "Says nothing.")
  private boolean quiet;

  @Option(names = "-M", description = "Makes it as small as it can be.")
  private boolean toMinimum;

  @Option(
      names = "-P",
      description = {
        "Prints the least size in bytes, estimated rather too large than too small, and changes",
        "nothing."
      })
  private boolean printMinimum;

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
    if (toMinimum && printMinimum || sizeBytes != null && (toMinimum || printMinimum)) {
      throw usage("SIZE, -M and -P exclude each other");
    }
    if (printMinimum) {
      console().printLine(Long.toString(Extant.minimumSize(image)));
      return;
    }
    long reached = toMinimum ? Extant.shrinkToMinimum(image) : Extant.resize(image, wanted());
    if (!quiet) {
      console().printLine(image + ": " + Sizes.human(reached));
    }
  }

  private long wanted() throws IOException {
    return sizeBytes == null ? Files.size(image) : sizeBytes;
  }
}
