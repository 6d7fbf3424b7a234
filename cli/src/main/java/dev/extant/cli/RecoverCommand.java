package dev.extant.cli;

import dev.extant.Extant;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/// `extant recover`.
@Command(
    name = "recover",
    description = "Replays the journal and finishes deletions that a crash left half done.")
final class RecoverCommand extends SubCommand {
  @Parameters(paramLabel = "IMAGE")
  private Path image;

  @Override
  void run() throws IOException {
    Extant mounted = MountedImages.mount(image, MountOptions.defaults());
    try (mounted) {
      for (String sentence : RecoveryText.of(mounted)) {
        console().printLine(image + ": " + sentence);
      }
    }
  }
}
