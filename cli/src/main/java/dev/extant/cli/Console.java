package dev.extant.cli;

import dev.extant.vfs.FileName;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

/// Where a command writes: standard output, in bytes since names in an image are bytes, and
/// standard error.
///
/// On a terminal, control characters in names show as `?`, so that a name cannot command the
/// terminal.
final class Console {
  private final BufferedOutputStream out;
  private final PrintStream err;
  private final boolean terminal;

  Console(OutputStream out, PrintStream err, boolean terminal) {
    this.out = new BufferedOutputStream(out, 1 << 16);
    this.err = err;
    this.terminal = terminal;
  }

  static Console ofProcess() {
    java.io.Console console = System.console();
    return new Console(
        new FileOutputStream(FileDescriptor.out),
        System.err,
        console != null && console.isTerminal());
  }

  /// True if a person watches.
  boolean terminal() {
    return terminal;
  }

  void print(String text) throws IOException {
    write(text.getBytes(StandardCharsets.UTF_8));
  }

  void printLine(String text) throws IOException {
    print(text + "\n");
  }

  void print(FileName name) throws IOException {
    printName(name.bytes());
  }

  /// Bytes of a name or of a symbolic link's target.
  void printName(byte[] name) throws IOException {
    byte[] shown = name.clone();
    for (int i = 0; terminal && i < shown.length; i++) {
      if (shown[i] >= 0 && shown[i] < ' ' || shown[i] == 0x7F) {
        shown[i] = '?';
      }
    }
    write(shown);
  }

  /// Bytes as they are.
  void write(byte[] bytes) throws IOException {
    try {
      out.write(bytes);
    } catch (IOException e) {
      throw new ClosedOutputException(e);
    }
  }

  void flush() throws IOException {
    try {
      out.flush();
    } catch (IOException e) {
      throw new ClosedOutputException(e);
    }
  }

  /// Standard output for texts that others format.
  PrintWriter writer() {
    return new PrintWriter(out, true, StandardCharsets.UTF_8);
  }

  /// The stream for progress and complaints.
  PrintStream err() {
    return err;
  }

  /// One sentence on standard error.
  void complain(String sentence) throws IOException {
    flush();
    err.println("extant: " + sentence);
  }
}
