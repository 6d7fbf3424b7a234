package dev.extant.testkit;

import dev.extant.block.FileDevice;
import dev.extant.fsck.Fsck;
import dev.extant.fsck.FsckOptions;
import dev.extant.fsck.FsckProgress;
import dev.extant.fsck.FsckReport;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/// Runs the programs that tests compare with: e2fsck, debugfs, mke2fs, mount.
///
/// A test whose program or privilege is missing is skipped by name, and fails instead where the
/// environment variable `CI` is set, since CI has them all.
public final class Oracles {
  private static final long TIMEOUT_SECONDS = 300;

  /// What a program answered; `output` is its standard output and standard error as they came.
  public record Result(List<String> command, int exitCode, String output) {
    /// This, if the exit code is one of those given; an assertion error with the output otherwise.
    public Result expect(int... exitCodes) {
      if (Arrays.stream(exitCodes).noneMatch(code -> code == exitCode)) {
        throw new AssertionError(
            String.join(" ", command) + " exited with " + exitCode + ":\n" + output);
      }
      return this;
    }
  }

  private Oracles() {}

  /// Where a program is, on the PATH or in the usual places for administration.
  public static Optional<Path> find(String program) {
    String path = System.getenv().getOrDefault("PATH", "");
    return Stream.concat(
            Arrays.stream(path.split(File.pathSeparator)),
            Stream.of("/usr/sbin", "/sbin", "/usr/local/sbin"))
        .filter(directory -> !directory.isEmpty())
        .map(directory -> Path.of(directory, program))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /// Skips the test (in CI: fails it) unless all these programs are there.
  public static void require(String... programs) {
    for (String program : programs) {
      require("program " + program, find(program).isPresent());
    }
  }

  /// Skips the test (in CI: fails it) unless it runs as root on Linux, which kernel mounts need.
  public static void requireRoot() {
    require(
        "root on Linux",
        "root".equals(System.getProperty("user.name")) && find("mount").isPresent());
  }

  /// Skips the test (in CI: fails it) unless what it needs is there.
  public static void require(String what, boolean present) {
    if (System.getenv("CI") != null) {
      Assertions.assertTrue(present, "missing in CI: " + what);
    }
    Assumptions.assumeTrue(present, "missing: " + what);
  }

  /// Runs a program, which must be there (see [#require(String...)]), and waits for its end. What
  /// `e2fsck -fn` passes, our own check must pass too.
  public static Result run(String program, Object... arguments) throws IOException {
    require(program);
    List<String> command = new ArrayList<>();
    command.add(find(program).orElseThrow().toString());
    for (Object argument : arguments) {
      command.add(argument.toString());
    }
    Result result = run(command, Map.of());
    if (program.equals("e2fsck") && arguments[0].equals("-fn") && result.exitCode() == 0) {
      requireOwnCheckPasses(Path.of(arguments[arguments.length - 1].toString()));
    }
    return result;
  }

  private static void requireOwnCheckPasses(Path image) throws IOException {
    try (FileDevice device = FileDevice.open(image, true)) {
      FsckReport report = Fsck.check(device, FsckOptions.defaults(), FsckProgress.NONE);
      if (!report.clean()) {
        throw new AssertionError(image + " passes e2fsck, but not our check: " + report.findings());
      }
    }
  }

  /// Runs a command with an empty standard input, untranslated messages and the given further
  /// environment.
  public static Result run(List<String> command, Map<String, String> environment)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectErrorStream(true);
    Path output = Files.createTempFile("extant-oracle", ".out");
    try {
      builder.redirectOutput(output.toFile());
      builder.environment().put("LC_ALL", "C");
      builder.environment().put("TZ", "UTC");
      builder.environment().putAll(environment);
      Process process = builder.start();
      process.getOutputStream().close();
      if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new AssertionError(
            String.join(" ", command) + " did not end within " + TIMEOUT_SECONDS + " s");
      }
      return new Result(
          List.copyOf(command),
          process.exitValue(),
          new String(Files.readAllBytes(output), StandardCharsets.UTF_8));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while running " + String.join(" ", command), e);
    } finally {
      Files.delete(output);
    }
  }
}
