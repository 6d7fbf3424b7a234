package dev.extant.fsck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.block.FileDevice;
import dev.extant.ext4.format.DirEntry;
import dev.extant.ext4.format.Superblock;
import dev.extant.testkit.Oracles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A copy of an image that a test damages, and what e2fsck and our check say of it.
final class DamagedImage {
  private static final int INODE_SIZE_BYTES = 256;
  private static final Pattern PLACE = Pattern.compile("at block (\\d+), offset 0x([0-9a-f]+)");

  /// What a test does to an image.
  @FunctionalInterface
  interface Damage {
    void on(DamagedImage image) throws IOException;
  }

  private final Path path;
  private final int blockSizeBytes;

  private DamagedImage(Path path, int blockSizeBytes) {
    this.path = path;
    this.blockSizeBytes = blockSizeBytes;
  }

  /// Makes an image of 8 MiB that holds the tree.
  static Path make(Path image, Path tree, Object... options) throws IOException {
    List<Object> arguments = new ArrayList<>(List.of("-q", "-F"));
    arguments.addAll(List.of(options));
    arguments.addAll(List.of("-d", tree, image, "8M"));
    Oracles.run("mke2fs", arguments.toArray()).expect(0);
    return image;
  }

  static DamagedImage copyOf(Path base) throws IOException {
    Path copy = base.resolveSibling("damaged.img");
    Files.copy(base, copy, StandardCopyOption.REPLACE_EXISTING);
    DamagedImage raw = new DamagedImage(copy, Superblock.SIZE);
    MemorySegment superblock = raw.read(1);
    return new DamagedImage(copy, 1024 << (int) Superblock.logBlockSize(superblock));
  }

  void debugfs(String... commands) throws IOException {
    Path script = Files.createTempFile("debugfs", ".txt");
    try {
      Files.write(script, Arrays.asList(commands));
      Oracles.run("debugfs", "-w", "-f", script, path).expect(0);
    } finally {
      Files.delete(script);
    }
  }

  private String ask(String question) throws IOException {
    return Oracles.run("debugfs", "-R", question, path).expect(0).output();
  }

  /// The block behind a logical block of a file; files are named as in debugfs.
  long block(String file, int logical) throws IOException {
    Matcher matcher =
        Pattern.compile("^(\\d+)\\s*$", Pattern.MULTILINE)
            .matcher(ask("bmap " + file + " " + logical));
    assertThat(matcher.find()).as("block %d of %s", logical, file).isTrue();
    return Long.parseLong(matcher.group(1));
  }

  /// The block of extended attributes of a file.
  long attributeBlock(String file) throws IOException {
    Matcher matcher = Pattern.compile("File ACL: (\\d+)").matcher(ask("stat " + file));
    assertThat(matcher.find()).isTrue();
    return Long.parseLong(matcher.group(1));
  }

  private MemorySegment read(long blockNr) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(blockSizeBytes);
    try (FileChannel channel = FileChannel.open(path)) {
      while (buffer.hasRemaining()
          && channel.read(buffer, blockNr * blockSizeBytes + buffer.position()) >= 0) {
        // Until all is read.
      }
    }
    return MemorySegment.ofArray(buffer.array());
  }

  void edit(long blockNr, Consumer<MemorySegment> change) throws IOException {
    MemorySegment block = read(blockNr);
    change.accept(block);
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
      channel.write(block.asByteBuffer(), blockNr * blockSizeBytes);
    }
  }

  /// Where something lies: bytes of a block.
  record Place(long blockNr, int offset, int length) {}

  Place inode(String file) throws IOException {
    Matcher matcher = PLACE.matcher(ask("imap " + file));
    assertThat(matcher.find()).isTrue();
    int offset = Integer.parseInt(matcher.group(2), 16);
    return new Place(Long.parseLong(matcher.group(1)), offset, INODE_SIZE_BYTES);
  }

  Place wholeBlock(long blockNr) {
    return new Place(blockNr, 0, blockSizeBytes);
  }

  /// Changes the bytes of an inode; checksums stay as they were.
  void editInode(String file, Consumer<MemorySegment> change) throws IOException {
    edit(inode(file), change);
  }

  void edit(Place place, Consumer<MemorySegment> change) throws IOException {
    edit(place.blockNr, block -> change.accept(block.asSlice(place.offset, place.length)));
  }

  /// Changes the entry of a name in the first block of a directory: the segment begins there.
  void editEntry(String directory, String name, Consumer<MemorySegment> change) throws IOException {
    edit(
        block(directory, 0),
        block -> {
          int at = 0;
          while (!name.equals(new String(DirEntry.name(block, at)))) {
            at += DirEntry.recLen(block, at);
          }
          change.accept(block.asSlice(at));
        });
  }

  FsckReport check() {
    try (FileDevice device = FileDevice.open(path, true)) {
      return Fsck.check(device, FsckOptions.defaults().withThreads(2), FsckProgress.NONE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// What e2fsck says, without our own check.
  Oracles.Result e2fsck() throws IOException {
    Oracles.require("e2fsck");
    String program = Oracles.find("e2fsck").orElseThrow().toString();
    return Oracles.run(List.of(program, "-fn", path.toString()), Map.of());
  }

  /// e2fsck finds an error, and so do we, this one among others.
  void assertFound(Problem problem) throws IOException {
    Oracles.Result result = e2fsck();
    assertThat(result.exitCode()).as(result.output()).isNotZero();
    assertOursFinds(problem);
  }

  void assertOursFinds(Problem problem) {
    FsckReport report = check();
    assertThat(report.findings()).extracting(Finding::problem).contains(problem);
    assertThat(report.errors() + report.warnings()).isPositive();
    assertThat(report.exitCode() == 0).isEqualTo(problem.warning() && report.errors() == 0);
  }

  /// Neither e2fsck nor we find an error.
  void assertClean() throws IOException {
    e2fsck().expect(0);
    FsckReport report = check();
    assertThat(report.findings()).filteredOn(finding -> !finding.problem().warning()).isEmpty();
    assertThat(report.exitCode()).isZero();
  }
}
