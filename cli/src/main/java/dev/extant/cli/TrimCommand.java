package dev.extant.cli;

import dev.extant.Extant;
import dev.extant.block.FileDevice;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant trim`. Java cannot make holes in files, so the program fallocate of util-linux does.
@Command(
    name = "trim",
    description = "Gives the space of an image's free blocks back to the host.",
    footer = {
      "",
      "The free blocks become holes of the image file, by the program fallocate of util-linux."
    })
final class TrimCommand extends SubCommand {
  @Option(
      names = {"-m", "--minimum"},
      paramLabel = "SIZE",
      converter = Sizes.Converter.class,
      defaultValue = "64K",
      description = "Leaves shorter runs of free blocks alone; ${DEFAULT-VALUE} if left out.")
  private long minBytes;

  @Option(names = "-q", description = "Says nothing.")
  private boolean quiet;

  @Parameters(paramLabel = "IMAGE")
  private Path image;

  @Override
  void run() throws IOException {
    Session.requireImage(image);
    PunchingDevice device = new PunchingDevice(FileDevice.open(image, false), image);
    long trimmed;
    try (Extant mount = Extant.open(device, MountOptions.defaults())) {
      MountedImages.requireWritable(mount, image);
      trimmed = mount.trim(minBytes);
    }
    if (!quiet) {
      console().printLine(image + ": " + Sizes.human(trimmed) + " trimmed");
    }
  }
}
