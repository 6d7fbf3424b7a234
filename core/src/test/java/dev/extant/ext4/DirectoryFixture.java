package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.block.RamDevice;
import dev.extant.block.RequestQueue;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.DirHash;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.journal.NoJournal;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Directories on a RAM device without a journal.
final class DirectoryFixture implements AutoCloseable {
  static final int[] SEED = {0x12345678, 0x9abcdef0, 0x0fedcba9, 0x87654321};
  static final long PARENT = 2;

  final int blockSize;
  final ArrayBlockMap map;
  final FakeInodes inodes = new FakeInodes();
  final List<FsException> reported = new ArrayList<>();
  final DirHash hash;
  final RamDevice device;
  private final Checksums checksums;
  private final Features features;
  private final RequestQueue queue;
  private BufferCache buffers;
  NoJournal journal;
  Directories directories;

  interface Change {
    void run(Handle handle) throws IOException;
  }

  DirectoryFixture(int blockSize, boolean checksummed, int hashVersion, int blocks)
      throws IOException {
    this(
        blockSize,
        checksummed,
        hashVersion,
        blocks,
        Features.of(Feature.DIR_INDEX, Feature.FILETYPE));
  }

  DirectoryFixture(
      int blockSize, boolean checksummed, int hashVersion, int blocks, Features features)
      throws IOException {
    this.blockSize = blockSize;
    this.map = new ArrayBlockMap(blocks - 1);
    this.hash = new DirHash(hashVersion, false, SEED);
    this.device = new RamDevice("ram", (long) blocks * blockSize);
    this.checksums = checksummed ? TestChecksums.create() : TestChecksums.disabled();
    this.features = features;
    this.queue = new RequestQueue(device);
    open();
  }

  private void open() {
    buffers = new BufferCache(queue, blockSize, Long.MAX_VALUE);
    journal = new NoJournal(queue, buffers);
    directories = new Directories(buffers, map, inodes, checksums, features, hash, reported::add);
  }

  /// Writes everything and reads it again from the device.
  void reopen() throws IOException {
    journal.close();
    buffers.close();
    open();
  }

  /// Forgets what is in memory and reads the device again.
  void reload() {
    buffers.close();
    open();
  }

  void change(Change change) throws IOException {
    try (Handle handle = journal.start(100)) {
      change.run(handle);
    }
  }

  Inode newDirectory(long ino) throws IOException {
    Inode dir = inodes.newFile(ino);
    RawInode.mode(dir.raw, 0x41ED);
    Inode directory = new Inode(inodes, ino, dir.raw);
    change(handle -> directories.initialise(handle, directory, PARENT));
    return directory;
  }

  void add(Inode dir, FileName name, long ino) throws IOException {
    change(handle -> directories.add(handle, dir, name, ino, FileType.REGULAR));
  }

  /// All names but `.` and `..`, which are checked, and each of which is there once.
  Map<FileName, Long> list(Inode dir, int batch) throws IOException {
    Map<FileName, Long> found = new TreeMap<>();
    List<FileName> order = new ArrayList<>();
    long[] cookie = {0};
    boolean[] more = {true};
    while (more[0]) {
      more[0] = false;
      int[] left = {batch};
      directories.read(
          dir,
          cookie[0],
          (name, ino, type, next) -> {
            assertThat(next).as("cookie behind %s", name).isGreaterThan(cookie[0]);
            cookie[0] = next;
            order.add(name);
            assertThat(found.put(name, ino)).as("listed twice: %s", name).isNull();
            more[0] = true;
            return --left[0] > 0;
          });
    }
    assertThat(order.get(0)).isEqualTo(FileName.of("."));
    assertThat(order.get(1)).isEqualTo(FileName.of(".."));
    assertThat(found.remove(FileName.of("."))).isEqualTo(dir.ino());
    assertThat(found.remove(FileName.of(".."))).isEqualTo(PARENT);
    return found;
  }

  @Override
  public void close() throws IOException {
    journal.close();
    buffers.close();
    queue.close();
    device.close();
  }
}
