package dev.extant.cli;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.RenameMode;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant mv`.
@Command(name = "mv", description = "Renames files, or moves them into a directory, in one image.")
final class MvCommand extends SubCommand {
  @Option(
      names = {"-f", "--force"},
      description = "Replaces what is there, as always.")
  private boolean force;

  @Option(
      names = {"-n", "--no-clobber"},
      description = "Leaves what is there.")
  private boolean noClobber;

  @Option(
      names = {"-T", "--no-target-directory"},
      description = "Takes TARGET as the new name even if it is a directory.")
  private boolean noTargetDirectory;

  @Parameters(
      paramLabel = "IMAGE:/PATH",
      arity = "2..*",
      description = "What to move; the last is the target.")
  private List<String> paths;

  @Override
  void run() throws IOException {
    try (Session session = writing()) {
      Operand target = operand(session, paths.getLast());
      Node directory = noTargetDirectory ? null : directoryAt(target);
      if (directory == null && paths.size() > 2) {
        throw new CommandFailure(target.text() + ": is no directory to move several files into");
      }
      try {
        each(session, paths.subList(0, paths.size() - 1), from -> move(from, target, directory));
      } finally {
        if (directory != null) {
          directory.close();
        }
      }
    }
  }

  /// The directory at the target, or null if there is none.
  private static Node directoryAt(Operand target) throws IOException {
    try {
      Node node = Lookup.find(target.volume(), target.path(), true);
      if (node.type() == FileType.DIRECTORY) {
        return node;
      }
      node.close();
      return null;
    } catch (FsException e) {
      if (e.errno() == Errno.ENOENT) {
        return null;
      }
      throw CommandFailure.at(target.text(), e);
    }
  }

  private void move(Operand from, Operand target, Node directory) throws IOException {
    if (from.volume() != target.volume()) {
      throw new CommandFailure(from.text() + ": is not in the image of the target (cp copies)");
    }
    RenameMode mode = noClobber ? RenameMode.NO_REPLACE : RenameMode.REPLACE;
    try (Lookup.Place source = from.place();
        Lookup.Place place =
            directory == null
                ? target.place()
                : new Lookup.Place(directory.retain(), source.name())) {
      FileName name = place.name();
      from.volume().rename(source.directory(), source.name(), place.directory(), name, mode);
    } catch (FsException e) {
      if (e.errno() != Errno.EEXIST || !noClobber) {
        throw e;
      }
    }
  }
}
