package dev.extant.cli;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant ln`.
@Command(name = "ln", description = "Makes links.")
final class LnCommand extends SubCommand {
  @Option(
      names = {"-s", "--symbolic"},
      description = "Makes a symbolic link; the target is any text.")
  private boolean symbolic;

  @Option(
      names = {"-f", "--force"},
      description = "Replaces what is there, but no directory.")
  private boolean force;

  @Parameters(index = "0", paramLabel = "TARGET", description = "IMAGE:/FILE, or with -s any text.")
  private String target;

  @Parameters(
      index = "1",
      paramLabel = "IMAGE:/LINK",
      description = "The new name, or a directory.")
  private String link;

  @Override
  void run() throws IOException {
    try (Session session = writing()) {
      Operand at = operand(session, link);
      Operand from = symbolic ? null : operand(session, target);
      if (from != null && from.volume() != at.volume()) {
        throw new CommandFailure(link + ": a hard link cannot lead to another image");
      }
      try (Lookup.Place place = place(at)) {
        make(at.volume(), from, place);
      } catch (IOException e) {
        throw CommandFailure.at(link, e);
      }
    }
  }

  private Lookup.Place place(Operand at) throws IOException {
    try {
      Node node = at.find(true);
      if (node.type() == FileType.DIRECTORY) {
        List<FileName> names = Names.split(target);
        if (names.isEmpty()) {
          node.close();
          throw new CommandFailure(target + ": has no name to give the link");
        }
        return new Lookup.Place(node, names.getLast());
      }
      node.close();
    } catch (CommandFailure e) {
      if (!(e.getCause() instanceof FsException refused) || refused.errno() != Errno.ENOENT) {
        throw e;
      }
    }
    return at.place();
  }

  private void make(Volume volume, Operand from, Lookup.Place place) throws IOException {
    if (from == null) {
      if (target.isEmpty()) {
        throw usage("a symbolic link needs a target");
      }
      clear(volume, place);
      byte[] text = target.getBytes(StandardCharsets.UTF_8);
      volume.symlink(place.directory(), place.name(), text, new NewFile(0777, 0, 0)).close();
      return;
    }
    try (Node file = from.find(false)) {
      if (file.type() == FileType.DIRECTORY) {
        throw new CommandFailure(target + ": is a directory, which gets no hard links");
      }
      clear(volume, place);
      volume.link(file, place.directory(), place.name());
    }
  }

  private void clear(Volume volume, Lookup.Place place) throws IOException {
    if (force) {
      try {
        volume.unlink(place.directory(), place.name());
      } catch (FsException e) {
        if (e.errno() != Errno.ENOENT) {
          throw e;
        }
      }
    }
  }
}
