package dev.extant.cli;

import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ParameterException;

/// The `extant` command: what its subcommands share, and the one place where failures become exit
/// codes.
@Command(
    name = "extant",
    description = "Works with ext4 file systems in image files.",
    synopsisSubcommandLabel = "COMMAND",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    subcommands = {
      MkfsCommand.class,
      LsCommand.class,
      CatCommand.class,
      StatCommand.class,
      CpCommand.class,
      MvCommand.class,
      RmCommand.class,
      MkdirCommand.class,
      LnCommand.class,
      ChmodCommand.class,
      ChownCommand.class,
      TouchCommand.class,
      FallocateCommand.class,
      XattrCommand.class,
      FindCommand.class,
      TreeCommand.class,
      DuCommand.class,
      DfCommand.class,
      InfoCommand.class,
      JournalCommand.class,
      RecoverCommand.class,
      FsckCommand.class,
      TuneCommand.class,
      ResizeCommand.class,
      TrimCommand.class,
      DemoCommand.class,
      BenchCommand.class,
      CommandLine.HelpCommand.class
    },
    footer = {
      "",
      "A path inside an image is written IMAGE:/path; a host path that exists as written wins.",
      "Exit codes: 0 done, 1 failed, 2 wrong usage; fsck has its own.",
      "Try 'extant help COMMAND'."
    })
public final class Main {
  private final Images images;
  private final Console console;

  Main(Images images, Console console) {
    this.images = images;
    this.console = console;
  }

  public static void main(String[] arguments) {
    System.exit(run(new MountedImages(), Console.ofProcess(), arguments));
  }

  /// Runs one command and returns its exit code.
  static int run(Images images, Console console, String... arguments) {
    try {
      int code = commandLine(new Main(images, console)).execute(arguments);
      console.flush();
      return code;
    } catch (IOException | Error e) {
      return explain(console, e);
    }
  }

  private static CommandLine commandLine(Main main) {
    PrintWriter err = new PrintWriter(main.console.err(), true);
    CommandLine line = new CommandLine(main);
    // The tests of find are no options.
    line.getSubcommands().get("find").setUnmatchedOptionsArePositionalParams(true);
    return line.setExpandAtFiles(false)
        .setErr(err)
        .setOut(main.console.writer())
        .setPosixClusteredShortOptionsAllowed(true)
        .setParameterExceptionHandler(Main::complainOfUsage)
        .setExecutionExceptionHandler(
            (exception, command, _) -> {
              explain(main.console, exception);
              return command.getCommandSpec().exitCodeOnExecutionException();
            });
  }

  private static int complainOfUsage(ParameterException exception, String[] arguments) {
    CommandLine command = exception.getCommandLine();
    command.getErr().println("extant: " + exception.getMessage());
    command.getErr().println("Try '" + command.getCommandSpec().qualifiedName(" ") + " --help'.");
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }

  private static int explain(Console console, Throwable problem) {
    if (problem instanceof ClosedOutputException) {
      return CommandLine.ExitCode.SOFTWARE;
    }
    console.err().println("extant: " + Sentences.of(problem));
    if (System.getenv("EXTANT_DEBUG") != null) {
      problem.printStackTrace(console.err());
    }
    return CommandLine.ExitCode.SOFTWARE;
  }

  Images images() {
    return images;
  }

  Console console() {
    return console;
  }

  /// The version in the jar's manifest.
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {"extant " + (version == null ? "(development)" : version)};
    }
  }
}
