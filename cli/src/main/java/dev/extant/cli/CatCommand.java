package dev.extant.cli;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/// `extant cat`.
@Command(name = "cat", description = "Writes the content of files to standard output.")
final class CatCommand extends SubCommand {
  private static final int CHUNK_BYTES = 1 << 18;

  @Parameters(paramLabel = "IMAGE:/FILE", arity = "1..*")
  private List<String> paths;

  @Override
  void run() throws IOException {
    try (Session session = reading()) {
      each(session, paths, this::cat);
    }
  }

  private void cat(Operand operand) throws IOException {
    try (Arena arena = Arena.ofConfined();
        Node file = operand.find(true)) {
      if (file.type() == FileType.DIRECTORY) {
        throw new FsException(Errno.EISDIR, Errno.EISDIR.text());
      }
      MemorySegment chunk = arena.allocate(CHUNK_BYTES);
      long offset = 0;
      int length;
      while ((length = operand.volume().read(file, offset, chunk)) > 0) {
        console().write(chunk.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE));
        offset += length;
      }
    }
  }
}
