package dev.extant.cli;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant cp`.
@Command(
    name = "cp",
    description = "Copies files and trees between the host and images, or within an image.",
    footer = {
      "",
      "With -r, -p or -a owners, permissions, times and hard links are kept. Holes always are.",
      "The source DIR/. means what is in DIR."
    })
final class CpCommand extends SubCommand {
  @Option(
      names = {"-r", "-R", "--recursive"},
      description = "Copies directories and what is in them, and symbolic links as links.")
  private boolean recursive;

  @Option(
      names = {"-p", "--preserve"},
      description = "Keeps owners, permissions and times.")
  private boolean preserve;

  @Option(
      names = {"-a", "--archive"},
      description = "The same as -r -p.")
  private boolean archive;

  @Option(
      names = {"-n", "--no-clobber"},
      description = "Leaves files that are there.")
  private boolean noClobber;

  @Option(
      names = {"-T", "--no-target-directory"},
      description = "Takes TARGET as the name of the copy even if it is a directory.")
  private boolean noTargetDirectory;

  @Parameters(
      paramLabel = "PATH",
      arity = "2..*",
      description = "Host paths or IMAGE:/paths; the last is the target.")
  private List<String> paths;

  private final List<SourceFile> sources = new ArrayList<>();

  @Override
  void run() throws IOException {
    boolean trees = recursive || archive;
    Copier.Rules rules = new Copier.Rules(trees, trees || preserve, !noClobber, false);
    Location target = Location.parse(paths.getLast());
    try (Session session = writing();
        Progress progress = new Progress(console(), this::measure);
        Copier copier = new Copier(rules, console(), progress)) {
      // The target first: an image on both sides is opened once, for writing.
      if (target instanceof Location.InImage in) {
        session.volume(in.image());
      }
      for (String path : paths.subList(0, paths.size() - 1)) {
        open(session, Location.parse(path), !trees);
      }
      try (TargetFile directory = noTargetDirectory ? null : directoryAt(session, target)) {
        copyAll(session, copier, target, directory);
      }
      if (copier.failures() > 0) {
        failed();
      }
    } finally {
      for (SourceFile source : sources) {
        source.close();
      }
    }
  }

  private long measure() throws IOException {
    long sum = 0;
    for (SourceFile source : sources) {
      sum += Copier.measure(source);
    }
    return sum;
  }

  private void open(Session session, Location location, boolean follow) throws IOException {
    try {
      sources.add(
          switch (location) {
            case Location.Host host -> new HostSource(host.text(), host.path(), follow);
            case Location.InImage in -> {
              Volume volume = session.volume(in.image(), false);
              yield new VolumeSource(in.text(), volume, Lookup.find(volume, in.path(), follow));
            }
          });
    } catch (IOException e) {
      complain(CommandFailure.at(location.text(), e));
    }
  }

  private void copyAll(Session session, Copier copier, Location target, TargetFile directory)
      throws IOException {
    if (directory == null && paths.size() > 2) {
      throw new CommandFailure(target.text() + ": is no directory to copy several files into");
    }
    for (SourceFile source : sources) {
      FileName name = lastName(source.text());
      if (directory == null) {
        try (TargetFile parent = parentOf(session, target)) {
          if (parent == null) {
            copyOnto(session, copier, source, target);
          } else {
            copier.copy(source, parent, lastName(target.text()));
          }
        }
      } else if (name == null) {
        copier.copyContents(source, directory);
      } else {
        copier.copy(source, directory, name);
      }
    }
  }

  /// With -T and a target that has no name, such as the root of an image.
  private void copyOnto(Session session, Copier copier, SourceFile source, Location target)
      throws IOException {
    try (TargetFile directory = directoryAt(session, target)) {
      if (directory == null) {
        throw new CommandFailure(target.text() + ": no such directory");
      }
      copier.copyContents(source, directory);
    }
  }

  /// The last name on a path, or null if it ends in the root, `.` or `..`.
  private static FileName lastName(String text) {
    List<FileName> names =
        switch (Location.parse(text)) {
          case Location.InImage in -> Names.split(in.path());
          case Location.Host host ->
              text.endsWith("/.") ? List.of() : Names.split(Names.bytesOfHost(host.path()));
        };
    boolean named = !names.isEmpty() && !names.getLast().isDot() && !names.getLast().isDotDot();
    return named ? names.getLast() : null;
  }

  /// The directory at a location, or null if there is none.
  private static TargetFile directoryAt(Session session, Location location) throws IOException {
    return switch (location) {
      case Location.Host host ->
          Files.isDirectory(host.path())
              ? new HostTarget(host.text(), host.path(), FileType.DIRECTORY)
              : null;
      case Location.InImage in -> {
        Volume volume = session.volume(in.image());
        try {
          Node node = Lookup.find(volume, in.path(), true);
          if (node.type() == FileType.DIRECTORY) {
            yield new VolumeTarget(in.text(), volume, node);
          }
          node.close();
        } catch (FsException e) {
          if (e.errno() != Errno.ENOENT) {
            throw CommandFailure.at(in.text(), e);
          }
        }
        yield null;
      }
    };
  }

  /// The directory that the target is or will be in; null if the target has no name of its own.
  private static TargetFile parentOf(Session session, Location target) throws IOException {
    if (lastName(target.text()) == null) {
      return null;
    }
    return switch (target) {
      case Location.Host host -> {
        Path parent = host.path().toAbsolutePath().getParent();
        if (!Files.isDirectory(parent)) {
          throw new CommandFailure(parent + ": no such directory");
        }
        Path given = host.path().getParent();
        yield new HostTarget(given == null ? "." : given.toString(), parent, FileType.DIRECTORY);
      }
      case Location.InImage in -> {
        Volume volume = session.volume(in.image());
        try {
          Lookup.Place place = Lookup.place(volume, in.path());
          String text = in.text().substring(0, in.text().lastIndexOf('/', in.text().length() - 2));
          yield new VolumeTarget(text, volume, place.directory());
        } catch (IOException e) {
          throw CommandFailure.at(in.text(), e);
        }
      }
    };
  }
}
