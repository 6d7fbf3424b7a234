package dev.extant.cli;

import dev.extant.vfs.AllocateMode;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant fallocate`.
@Command(
    name = "fallocate",
    description = "Allocates, frees, zeroes, takes out or puts in a range of files.",
    footer = {
      "",
      "Without an option that says what to do the range is allocated, and a file made if there is",
      "none. What is taken out or put in is a multiple of the file system's block size."
    })
final class FallocateCommand extends SubCommand {
  @Option(
      names = {"-o", "--offset"},
      paramLabel = "SIZE",
      converter = Sizes.Converter.class,
      description = "Where the range begins; 0 if left out.")
  private long offset;

  @Option(
      names = {"-l", "--length"},
      paramLabel = "SIZE",
      required = true,
      converter = Sizes.Converter.class,
      description = "Its length: bytes, or like 64K, 10M, 2G.")
  private long lengthBytes;

  @Option(
      names = {"-n", "--keep-size"},
      description = "The file does not become longer.")
  private boolean keepSize;

  @Option(
      names = {"-p", "--punch-hole"},
      description = "Makes the range a hole.")
  private boolean punchHole;

  @Option(
      names = {"-z", "--zero-range"},
      description = "Makes the range zeroes that are allocated.")
  private boolean zeroRange;

  @Option(
      names = {"-c", "--collapse-range"},
      description = "Takes the range out; what is behind moves down.")
  private boolean collapseRange;

  @Option(
      names = {"-i", "--insert-range"},
      description = "Puts a hole in; what is behind moves up.")
  private boolean insertRange;

  @Parameters(paramLabel = "IMAGE:/FILE", arity = "1..*")
  private List<String> paths;

  @Override
  void run() throws IOException {
    AllocateMode mode = mode();
    if (lengthBytes == 0) {
      throw usage("the length is 0");
    }
    try (Session session = writing()) {
      each(session, paths, operand -> allocate(operand.volume(), operand.path(), mode));
    }
  }

  private AllocateMode mode() {
    int chosen = 0;
    for (boolean option : new boolean[] {punchHole, zeroRange, collapseRange, insertRange}) {
      chosen += option ? 1 : 0;
    }
    if (chosen > 1) {
      throw usage("of -p, -z, -c and -i only one can be given");
    }
    if (keepSize && (collapseRange || insertRange)) {
      throw usage("-n cannot be given with -c or -i, which change the size");
    }
    if (punchHole) {
      return AllocateMode.PUNCH_HOLE;
    }
    if (zeroRange) {
      return keepSize ? AllocateMode.ZERO_RANGE_KEEP_SIZE : AllocateMode.ZERO_RANGE;
    }
    if (collapseRange) {
      return AllocateMode.COLLAPSE_RANGE;
    }
    if (insertRange) {
      return AllocateMode.INSERT_RANGE;
    }
    return keepSize ? AllocateMode.ALLOCATE_KEEP_SIZE : AllocateMode.ALLOCATE;
  }

  private void allocate(Volume volume, String path, AllocateMode mode) throws IOException {
    boolean mayMake = mode == AllocateMode.ALLOCATE || mode == AllocateMode.ALLOCATE_KEEP_SIZE;
    try (Node node = mayMake ? findOrMake(volume, path) : Lookup.find(volume, path, true)) {
      volume.allocate(node, mode, offset, lengthBytes);
    }
  }

  private static Node findOrMake(Volume volume, String path) throws IOException {
    try {
      return Lookup.find(volume, path, true);
    } catch (FsException e) {
      if (e.errno() != Errno.ENOENT) {
        throw e;
      }
      try (Lookup.Place place = Lookup.place(volume, path)) {
        return volume.create(place.directory(), place.name(), new NewFile(0644, 0, 0));
      }
    }
  }
}
