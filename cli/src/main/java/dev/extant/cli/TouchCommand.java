package dev.extant.cli;

import dev.extant.vfs.AttributeChange;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant touch`.
@Command(name = "touch", description = "Sets times, and makes files that are not there.")
final class TouchCommand extends SubCommand {
  @Option(
      names = {"-c", "--no-create"},
      description = "Makes no file.")
  private boolean noCreate;

  @Option(names = "-a", description = "Sets the access time only.")
  private boolean accessOnly;

  @Option(names = "-m", description = "Sets the modification time only.")
  private boolean modificationOnly;

  @Option(
      names = {"-d", "--date"},
      paramLabel = "TIME",
      description = "A time like 2026-01-31T23:59:59Z, 2026-01-31 23:59, 2026-01-31 or @SECONDS.")
  private String date;

  @Parameters(paramLabel = "IMAGE:/FILE", arity = "1..*")
  private List<String> paths;

  @Override
  void run() throws IOException {
    Instant time = date == null ? Instant.now() : time(date);
    AttributeChange change =
        AttributeChange.times(
            modificationOnly && !accessOnly ? null : time,
            accessOnly && !modificationOnly ? null : time,
            null);
    try (Session session = writing()) {
      each(session, paths, operand -> touch(operand.volume(), operand.path(), change));
    }
  }

  private void touch(Volume volume, String path, AttributeChange change) throws IOException {
    try (Node node = Lookup.find(volume, path, true)) {
      volume.setAttributes(node, change);
    } catch (FsException e) {
      if (e.errno() != Errno.ENOENT) {
        throw e;
      }
      if (!noCreate) {
        create(volume, path, change);
      }
    }
  }

  private static void create(Volume volume, String path, AttributeChange change)
      throws IOException {
    try (Lookup.Place place = Lookup.place(volume, path);
        Node node = volume.create(place.directory(), place.name(), new NewFile(0644, 0, 0))) {
      volume.setAttributes(node, change);
    }
  }

  private Instant time(String text) {
    try {
      return TimeText.parse(text);
    } catch (DateTimeException e) {
      throw usage("'" + text + "' is not a time");
    }
  }
}
