package dev.extant.cli;

import java.io.IOException;
import picocli.CommandLine.Command;

/// `extant mkfs`.
@Command(name = "mkfs", description = "Makes a file system.")
final class MkfsCommand extends SubCommand {
  @Override
  void run() throws IOException {}
}
