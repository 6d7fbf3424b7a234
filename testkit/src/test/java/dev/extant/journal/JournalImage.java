package dev.extant.journal;

import dev.extant.block.FileDevice;
import dev.extant.block.RequestQueue;
import dev.extant.ext4.format.Superblock;
import dev.extant.testkit.Oracles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/// An ext4 image file with a journal, which debugfs finds.
final class JournalImage {
  private final Path path;

  /// The device blocks of the journal, in order; asked for once, since afterwards the image may be
  /// such that debugfs does not open it.
  private List<Long> journalBlocks;

  private int blockSize;

  JournalImage(Path path) {
    this.path = path;
  }

  /// Made by mke2fs with the given features, a journal of 1,024 blocks of 1 KiB, and 8 MiB in all.
  static JournalImage make(Path path, String features) throws IOException {
    Oracles.run(
            "mke2fs", "-q", "-F", "-t", "ext4", "-b", "1024", "-J", "size=1", "-O", features, path,
            "8M")
        .expect(0);
    return new JournalImage(path);
  }

  Path path() {
    return path;
  }

  JournalImage copy(String name) throws IOException {
    Path copy = path.resolveSibling(name);
    Files.copy(path, copy, StandardCopyOption.REPLACE_EXISTING);
    JournalImage image = new JournalImage(copy);
    image.journalBlocks = journalBlocks();
    return image;
  }

  /// Runs debugfs commands that change the image.
  String debugfs(String... commands) throws IOException {
    Path script = Files.writeString(path.resolveSibling("script"), String.join("\n", commands));
    return Oracles.run("debugfs", "-w", "-f", script, path).expect(0).output();
  }

  private String look(String command) throws IOException {
    return Oracles.run("debugfs", "-R", command, path).expect(0).output();
  }

  List<Long> journalBlocks() throws IOException {
    if (journalBlocks == null) {
      String output = look("blocks <8>");
      String numbers = output.substring(output.indexOf('\n') + 1).strip();
      journalBlocks = Arrays.stream(numbers.split("\\s+")).map(Long::valueOf).toList();
    }
    return journalBlocks;
  }

  interface Action<T> {
    T on(JournalPlace place) throws IOException;
  }

  /// Opens the image and does something with its journal.
  <T> T with(Action<T> action) throws IOException {
    List<Long> blocks = journalBlocks();
    try (FileDevice device = FileDevice.open(path, false);
        RequestQueue queue = new RequestQueue(device)) {
      MemorySegment superblock = Arena.ofAuto().allocate(1024, 8);
      queue.read(1024, superblock);
      int blockSize = 1024 << Superblock.logBlockSize(superblock);
      JournalLocation location =
          new JournalLocation() {
            @Override
            public long lengthBlocks() {
              return blocks.size();
            }

            @Override
            public long physicalBlock(long journalBlock) {
              return blocks.get((int) journalBlock);
            }
          };
      return action.on(
          new JournalPlace(queue, location, blockSize, Superblock.blocksCount(superblock)));
    }
  }

  /// Recovers as a mount does.
  RecoveryReport recover() throws IOException {
    return with(
        place -> {
          RecoveryReport report = Recovery.replay(place);
          Recovery.markEmpty(place, report, false);
          return report;
        });
  }

  byte[] block(long blockNr) throws IOException {
    int size = blockSize();
    byte[] bytes = new byte[size];
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
      file.seek(blockNr * size);
      file.readFully(bytes);
    }
    return bytes;
  }

  private int blockSize() throws IOException {
    if (blockSize == 0) {
      blockSize = with(JournalPlace::blockSizeBytes);
    }
    return blockSize;
  }

  /// The numbers of blocks in which the two images differ, but for the journal's and the one with
  /// the superblock.
  static List<Long> differences(JournalImage one, JournalImage other) throws IOException {
    int size = one.blockSize();
    byte[] ours = Files.readAllBytes(one.path);
    byte[] theirs = Files.readAllBytes(other.path);
    List<Long> ignored = new ArrayList<>(one.journalBlocks());
    ignored.add(1024L / size);
    List<Long> result = new ArrayList<>();
    for (int at = 0; at < ours.length; at += size) {
      int end = Math.min(at + size, ours.length);
      long blockNr = at / size;
      if (!Arrays.equals(ours, at, end, theirs, at, end) && !ignored.contains(blockNr)) {
        result.add(blockNr);
      }
    }
    result.sort(Comparator.naturalOrder());
    return result;
  }
}
