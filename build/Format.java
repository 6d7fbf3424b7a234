import com.google.googlejavaformat.java.Formatter;
import com.google.googlejavaformat.java.FormatterException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Checks or mends the format of all Java sources below the current directory with
/// google-java-format.
///
/// Arguments: `check` or `write`, and a working directory. There it leaves `formatted`, the sources
/// found well formatted with their sizes and times, so that the next run looks only at what
/// changed, and `not-formatted`, the names of the others for the build to show.
final class Format {
  public static void main(String[] arguments) throws IOException {
    boolean write = arguments[0].equals("write");
    Path work = Path.of(arguments[1]);
    Path stamp = work.resolve("formatted");
    Path report = work.resolve("not-formatted");
    Files.createDirectories(work);
    Set<String> known = new HashSet<>(Files.exists(stamp) ? Files.readAllLines(stamp) : List.of());
    List<Path> changed =
        sources().stream().filter(source -> !known.contains(describe(source))).toList();
    List<Path> wrong =
        changed.parallelStream().filter(source -> !formatted(source, write)).toList();
    if (write) {
      wrong.forEach(source -> System.out.println("formatted " + source));
    }
    List<Path> left = write ? List.of() : wrong;
    Files.writeString(report, left.stream().map(Path::toString).collect(Collectors.joining(", ")));
    Files.write(
        stamp,
        sources().stream().filter(source -> !left.contains(source)).map(Format::describe).toList());
  }

  private static List<Path> sources() throws IOException {
    try (Stream<Path> modules = Files.list(Path.of(""))) {
      return modules
          .flatMap(module -> Stream.of(module, module.resolve("src")))
          .filter(root -> root.endsWith("src") || root.endsWith("build"))
          .filter(Files::isDirectory)
          .flatMap(Format::javaFiles)
          .sorted()
          .toList();
    }
  }

  private static Stream<Path> javaFiles(Path root) {
    try (Stream<Path> files = Files.walk(root)) {
      return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String describe(Path source) {
    try {
      return Files.getLastModifiedTime(source) + " " + Files.size(source) + " " + source;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// True if the source is as the formatter wants it. With `write` it is so afterwards.
  private static boolean formatted(Path source, boolean write) {
    try {
      String text = Files.readString(source);
      String wanted = new Formatter().formatSourceAndFixImports(text);
      if (write && !wanted.equals(text)) {
        Files.writeString(source, wanted);
      }
      return wanted.equals(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (FormatterException e) {
      System.err.println(source + ": " + e.getMessage());
      return false;
    }
  }
}
