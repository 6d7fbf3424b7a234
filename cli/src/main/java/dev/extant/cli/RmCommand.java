package dev.extant.cli;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant rm`.
@Command(name = "rm", description = "Removes files, with -r directories too.")
final class RmCommand extends SubCommand {
  @Option(
      names = {"-r", "-R", "--recursive"},
      description = "Removes directories and what is in them.")
  private boolean recursive;

  @Option(
      names = {"-f", "--force"},
      description = "Does not mind names that are not there.")
  private boolean force;

  @Parameters(paramLabel = "IMAGE:/PATH", arity = "1..*")
  private List<String> paths;

  @Override
  void run() throws IOException {
    try (Session session = writing()) {
      each(session, paths, this::remove);
    }
  }

  private void remove(Operand operand) throws IOException {
    try (Lookup.Place place = Lookup.place(operand.volume(), operand.path())) {
      remove(operand.text(), operand.volume(), place.directory(), place.name());
    } catch (FsException e) {
      if (!force || e.errno() != Errno.ENOENT) {
        throw e;
      }
    }
  }

  private void remove(String text, Volume volume, Node directory, FileName name)
      throws IOException {
    try (Node node = volume.lookup(directory, name)) {
      if (node.type() != FileType.DIRECTORY) {
        volume.unlink(directory, name);
        return;
      }
      if (!recursive) {
        throw new CommandFailure(text + ": is a directory (-r removes directories)");
      }
      for (FileName child : VolumeSource.names(volume, node)) {
        String childText = Operand.child(text, child);
        try {
          remove(childText, volume, node, child);
        } catch (IOException e) {
          complain(CommandFailure.at(childText, e));
        }
      }
      volume.rmdir(directory, name);
    }
  }
}
