package dev.extant.cli;

import picocli.CommandLine;

/// The `extant` command.
@CommandLine.Command(name = "extant", mixinStandardHelpOptions = true)
public final class Main {
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new Main()).execute(arguments));
  }
}
