package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.RenameMode;
import dev.extant.vfs.Volume;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;

/// A file that one worker alone changes, in directories that all share, so that it knows every byte
/// of it. Used by one thread at a time.
final class StressFile {
  static final int LARGEST_BYTES = 24 << 10;
  private static final NewFile OWNER = new NewFile(0644, 0, 0);

  private final Volume volume;
  private final FileName name;
  private final LongAdder fullDisks;
  private final byte[] content = new byte[LARGEST_BYTES];
  private int size;
  private Node directory;
  private Node node;

  /// Makes the file; takes the reference to `directory` over. `fullDisks` counts what is refused
  /// for want of room.
  StressFile(Volume volume, Node directory, String name, LongAdder fullDisks) throws FsException {
    this.volume = volume;
    this.fullDisks = fullDisks;
    this.directory = directory;
    this.name = FileName.of(name);
    this.node = volume.create(directory, this.name, OWNER);
  }

  FileName name() {
    return name;
  }

  byte[] content() {
    return Arrays.copyOf(content, size);
  }

  /// What a full disk leaves of it: a prefix that is told, or nothing.
  void write(SplittableRandom random) throws FsException {
    int offset = random.nextInt(LARGEST_BYTES - 1);
    byte[] bytes = bytes(random, Math.min(LARGEST_BYTES - offset, 6000));
    int written;
    try {
      written = volume.write(node, offset, MemorySegment.ofArray(bytes));
    } catch (FsException e) {
      requireFull(e);
      return;
    }
    System.arraycopy(bytes, 0, content, offset, written);
    size = Math.max(size, offset + written);
  }

  void append(SplittableRandom random) throws FsException {
    if (size == LARGEST_BYTES) {
      return;
    }
    byte[] bytes = bytes(random, Math.min(LARGEST_BYTES - size, 3000));
    try {
      assertThat(volume.append(node, MemorySegment.ofArray(bytes))).isEqualTo(size);
    } catch (FsException e) {
      requireFull(e);
      return;
    }
    System.arraycopy(bytes, 0, content, size, bytes.length);
    size += bytes.length;
  }

  private static byte[] bytes(SplittableRandom random, int most) {
    byte[] bytes = new byte[1 + random.nextInt(most)];
    random.nextBytes(bytes);
    return bytes;
  }

  void truncate(SplittableRandom random) throws FsException {
    int newSize = random.nextInt(random.nextBoolean() ? LARGEST_BYTES : size + 1);
    volume.truncate(node, newSize);
    if (newSize < size) {
      Arrays.fill(content, newSize, size, (byte) 0);
    }
    size = newSize;
  }

  void fsync(boolean dataOnly) {
    volume.fsync(node, dataOnly).join();
  }

  void check() throws FsException {
    byte[] found = new byte[LARGEST_BYTES];
    int count = 0;
    int got;
    do {
      got = volume.read(node, count, MemorySegment.ofArray(found).asSlice(count));
      count += got;
    } while (got > 0 && count < LARGEST_BYTES);
    assertThat(count).as("size of %s", name).isEqualTo(size);
    int differs = Arrays.mismatch(found, 0, count, content, 0, size);
    assertThat(differs).as("first wrong byte of %s with %s bytes", name, size).isEqualTo(-1);
  }

  /// Moves it to another directory, whose reference it takes over or gives back.
  void move(Node target) throws FsException {
    if (target.ino() == directory.ino()) {
      target.close();
      return;
    }
    try {
      volume.rename(directory, name, target, name, RenameMode.NO_REPLACE);
      directory.close();
      directory = target;
    } catch (FsException e) {
      target.close();
      if (e.errno() != Errno.ENOENT) {
        requireFull(e);
      }
    }
  }

  /// The name goes; the bytes are still there for who has the file open. The file is of no use
  /// afterwards.
  void unlinkWhileOpen(SplittableRandom random) throws FsException {
    volume.unlink(directory, name);
    write(random);
    truncate(random);
    check();
    close();
  }

  /// The name goes, the node stays open.
  Node abandon() throws FsException {
    volume.unlink(directory, name);
    directory.close();
    return node;
  }

  void close() {
    node.close();
    directory.close();
  }

  private void requireFull(FsException e) throws FsException {
    if (e.errno() != Errno.ENOSPC) {
      throw e;
    }
    fullDisks.increment();
  }
}
