package dev.extant.cli;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant mkdir`.
@Command(name = "mkdir", description = "Makes directories.")
final class MkdirCommand extends SubCommand {
  private static final int DEFAULT_PERMISSIONS = 0755;

  @Option(
      names = {"-p", "--parents"},
      description = "Makes parents as needed; a directory that is there is fine.")
  private boolean parents;

  @Option(
      names = {"-m", "--mode"},
      paramLabel = "MODE",
      converter = Mode.Converter.class,
      description = "Permissions, octal or like u=rwx,g=rx (default 0755).")
  private Mode mode;

  @Parameters(paramLabel = "IMAGE:/DIR", arity = "1..*")
  private List<String> paths;

  @Override
  void run() throws IOException {
    try (Session session = writing()) {
      each(session, paths, operand -> make(operand.volume(), operand.path()));
    }
  }

  private void make(Volume volume, String path) throws IOException {
    int permissions = mode == null ? DEFAULT_PERMISSIONS : mode.apply(0777, true);
    if (!parents) {
      try (Lookup.Place place = Lookup.place(volume, path)) {
        volume.mkdir(place.directory(), place.name(), new NewFile(permissions, 0, 0)).close();
      }
      return;
    }
    List<FileName> names = Names.split(path);
    StringBuilder prefix = new StringBuilder();
    for (int i = 0; i < names.size(); i++) {
      prefix.append('/').append(names.get(i));
      boolean last = i == names.size() - 1;
      makeUnlessThere(volume, prefix.toString(), last ? permissions : DEFAULT_PERMISSIONS);
    }
  }

  private static void makeUnlessThere(Volume volume, String path, int permissions)
      throws IOException {
    try (Node node = Lookup.find(volume, path, true)) {
      if (node.type() != FileType.DIRECTORY) {
        throw new FsException(Errno.ENOTDIR, Errno.ENOTDIR.text());
      }
    } catch (FsException e) {
      if (e.errno() != Errno.ENOENT) {
        throw e;
      }
      try (Lookup.Place place = Lookup.place(volume, path)) {
        volume.mkdir(place.directory(), place.name(), new NewFile(permissions, 0, 0)).close();
      }
    }
  }
}
