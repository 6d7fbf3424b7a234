package dev.extant.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/// What every subcommand has.
abstract class SubCommand implements Callable<Integer> {
  @ParentCommand private Main main;
  @Spec private CommandSpec spec;

  @Option(names = "--help", usageHelp = true, description = "Shows this text.")
  private boolean help;

  private boolean complained;
  private int exitCode;

  /// What the command does. Failures are thrown, or given to [#complain] when others can go on.
  abstract void run() throws IOException;

  @Override
  public final Integer call() throws IOException {
    run();
    return exitCode == 0 && complained ? 1 : exitCode;
  }

  /// For a command with exit codes of its own.
  final void exitWith(int code) {
    exitCode = code;
  }

  final Console console() {
    return main.console();
  }

  final Images images() {
    return main.images();
  }

  /// The images of a command that only looks.
  final Session reading() {
    return new Session(main.images(), false);
  }

  /// The images of a command that changes them.
  final Session writing() {
    return new Session(main.images(), true);
  }

  /// Wrong usage: exit code 2.
  final ParameterException usage(String sentence) {
    return new ParameterException(spec.commandLine(), sentence);
  }

  final Operand operand(Session session, String text) throws IOException {
    return switch (Location.parse(text)) {
      case Location.InImage in ->
          new Operand(text, in.image(), session.volume(in.image()), in.path());
      case Location.Host _ ->
          throw usage(text + ": not a path in an image (those are written IMAGE:/path)");
    };
  }

  /// Work on one operand.
  interface Work {
    void on(Operand operand) throws IOException;
  }

  /// Works on each operand; one that fails is complained of and the others go on.
  final void each(Session session, List<String> texts, Work work) throws IOException {
    List<Operand> operands = new ArrayList<>();
    for (String text : texts) {
      operands.add(operand(session, text));
    }
    for (Operand operand : operands) {
      try {
        work.on(operand);
      } catch (IOException e) {
        complain(CommandFailure.at(operand.text(), e));
      }
    }
  }

  /// Says what failed and makes the exit code 1; throws if going on makes no sense.
  final void complain(CommandFailure failure) throws IOException {
    if (failure.hopeless()) {
      throw failure;
    }
    complained = true;
    console().complain(failure.getMessage());
  }

  /// Like [#complain] for a command that only reads: what else is there may be readable.
  final void complainAndGoOn(CommandFailure failure) throws IOException {
    complained = true;
    console().complain(failure.getMessage());
  }

  /// The exit code will be 1.
  final void failed() {
    complained = true;
  }
}
