package dev.extant.cli;

import dev.extant.vfs.Attributes;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileTimes;
import dev.extant.vfs.FileType;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/// Copies files and trees between the host and images, in any direction.
///
/// Symbolic links are copied as links. Blocks of zeroes are not written, so holes stay holes. A
/// file with several names is stored once within one copier. A directory gets its times after its
/// content. What cannot be copied is complained of and counted, and the rest goes on, unless the
/// target is full or broken. A file that could not be written whole is removed.
final class Copier implements AutoCloseable {
  private static final int CHUNK_BYTES = 1 << 20;
  private static final int HOLE_UNIT_BYTES = 4096;

  /// `preserve`: keep owners, times, all permission bits and links. `clobber`: overwrite what is
  /// there. `fixedAccess`: access times are made the modification times, since those of the source
  /// change by being read.
  record Rules(boolean recursive, boolean preserve, boolean clobber, boolean fixedAccess) {}

  private final Rules rules;
  private final Console console;
  private final Progress progress;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment chunk = arena.allocate(CHUNK_BYTES, HOLE_UNIT_BYTES);
  private final MemorySegment zeroes = arena.allocate(HOLE_UNIT_BYTES, HOLE_UNIT_BYTES);

  /// Copies of files with several names, by the identity of the source.
  private final Map<Object, TargetFile> linked = new HashMap<>();

  /// The directory that the present copy makes; it must not be copied into itself.
  private TargetFile top;

  private long failures;

  Copier(Rules rules, Console console, Progress progress) {
    this.rules = rules;
    this.console = console;
    this.progress = progress;
  }

  /// How many files could not be copied.
  long failures() {
    return failures;
  }

  /// Copies a file or tree as `name` in a directory.
  void copy(SourceFile source, TargetFile directory, FileName name) throws IOException {
    try {
      copyOne(source, directory, name);
    } catch (IOException e) {
      failed(CommandFailure.at(source.text(), e));
    }
  }

  /// Copies what is in a directory, and its attributes, into another that is there.
  void copyContents(SourceFile source, TargetFile directory) throws IOException {
    try {
      if (source.type() != FileType.DIRECTORY || !rules.recursive()) {
        throw new CommandFailure(source.text() + ": is a directory (-r copies directories)");
      }
      copyChildren(source, directory);
    } catch (IOException e) {
      failed(CommandFailure.at(source.text(), e));
    }
  }

  private void failed(CommandFailure failure) throws IOException {
    if (failure.hopeless()) {
      throw failure;
    }
    failures++;
    console.complain(failure.getMessage());
  }

  private void copyOne(SourceFile source, TargetFile directory, FileName name) throws IOException {
    try (TargetFile existing = directory.child(name)) {
      if (existing != null && existing.isSame(source)) {
        throw new CommandFailure(source.text() + ": source and target are the same file");
      }
      if (source.type() == FileType.DIRECTORY) {
        copyDirectory(source, directory, name, existing);
        return;
      }
      if (existing != null && existing.type() == FileType.DIRECTORY) {
        throw new CommandFailure(
            existing.text() + ": is a directory, which a file does not replace");
      }
      if (existing != null && !rules.clobber()) {
        return;
      }
      copyFile(source, directory, name, existing);
    }
    progress.fileDone();
  }

  private void copyDirectory(
      SourceFile source, TargetFile directory, FileName name, TargetFile existing)
      throws IOException {
    if (!rules.recursive()) {
      throw new CommandFailure(source.text() + ": is a directory (-r copies directories)");
    }
    if (existing != null && existing.type() != FileType.DIRECTORY) {
      throw new CommandFailure(existing.text() + ": is not a directory");
    }
    if (top != null && top.isSame(source)) {
      throw new CommandFailure(source.text() + ": cannot be copied into itself");
    }
    if (existing != null) {
      copyChildren(source, existing);
      return;
    }
    // We must be able to write into it until its content is there.
    try (TargetFile made = directory.mkdir(name, source.attributes().permissions() | 0700)) {
      copyChildren(source, made);
    }
  }

  private void copyChildren(SourceFile source, TargetFile directory) throws IOException {
    boolean outermost = top == null;
    if (outermost) {
      top = directory;
    }
    try {
      for (FileName name : source.names()) {
        try (SourceFile child = source.child(name)) {
          copy(child, directory, name);
        } catch (IOException e) {
          failed(CommandFailure.at(Operand.child(source.text(), name), e));
        }
      }
    } finally {
      if (outermost) {
        top = null;
      }
    }
    finish(source, directory);
  }

  private void finish(SourceFile source, TargetFile target) throws IOException {
    if (rules.preserve()) {
      Attributes attributes = source.attributes();
      target.preserve(rules.fixedAccess() ? withFixedAccess(attributes) : attributes);
    } else if (target.type() == FileType.DIRECTORY) {
      target.permissions(source.attributes().permissions() & 0777);
    }
  }

  private static Attributes withFixedAccess(Attributes attributes) {
    FileTimes times = attributes.times();
    return new Attributes(
        attributes.ino(),
        attributes.generation(),
        attributes.type(),
        attributes.mode(),
        attributes.nlink(),
        attributes.uid(),
        attributes.gid(),
        attributes.sizeBytes(),
        attributes.allocatedBytes(),
        attributes.blockSizeBytes(),
        attributes.rdev(),
        new FileTimes(times.modified(), times.modified(), times.changed(), times.created()));
  }

  private void copyFile(SourceFile source, TargetFile directory, FileName name, TargetFile existing)
      throws IOException {
    boolean several = rules.preserve() && source.attributes().nlink() > 1;
    Object identity = several ? source.identity() : null;
    TargetFile earlier = several ? linked.get(identity) : null;
    boolean overwrite =
        earlier == null
            && existing != null
            && existing.type() == FileType.REGULAR
            && source.type() == FileType.REGULAR;
    if (existing != null && !overwrite) {
      directory.unlink(name);
    }
    if (earlier != null) {
      directory.link(earlier, name);
      return;
    }
    try (TargetFile target = overwrite ? existing.retain() : make(source, directory, name)) {
      if (target == null) {
        throw new CommandFailure(
            source.text() + ": skipped, a " + describe(source.type()) + " cannot be made here");
      }
      try {
        if (source.type() == FileType.REGULAR) {
          copyData(source, target, overwrite);
        }
        finish(source, target);
      } catch (IOException e) {
        directory.unlink(name);
        throw CommandFailure.at(target.text(), e);
      }
      if (several) {
        linked.put(identity, target.retain());
      }
    }
  }

  private TargetFile make(SourceFile source, TargetFile directory, FileName name)
      throws IOException {
    int permissions = source.attributes().permissions() & (rules.preserve() ? 0xFFF : 0777);
    return switch (source.type()) {
      case REGULAR -> directory.create(name, permissions);
      case SYMLINK -> directory.symlink(name, source.readlink());
      default -> directory.mknod(name, source.type(), source.attributes().rdev(), permissions);
    };
  }

  static String describe(FileType type) {
    return switch (type) {
      case REGULAR -> "regular file";
      case DIRECTORY -> "directory";
      case CHARACTER_DEVICE -> "character special file";
      case BLOCK_DEVICE -> "block special file";
      case FIFO -> "fifo";
      case SOCKET -> "socket";
      case SYMLINK -> "symbolic link";
    };
  }

  private void copyData(SourceFile source, TargetFile target, boolean overwrite)
      throws IOException {
    if (overwrite) {
      target.truncate(0);
    }
    long at = 0;
    long writtenEnd = 0;
    while (true) {
      long data = source.nextData(at);
      if (data < 0) {
        at = Math.max(at, source.attributes().sizeBytes());
        break;
      }
      int length = source.read(data, chunk);
      if (length == 0) {
        at = Math.max(at, Math.min(data, source.attributes().sizeBytes()));
        break;
      }
      writtenEnd = Math.max(writtenEnd, writeData(target, data, length));
      at = data + length;
      progress.bytesDone(length);
    }
    if (at > writtenEnd) {
      target.truncate(at);
    }
  }

  /// Writes the chunk without its blocks of zeroes; returns the end of what was written, 0 if
  /// nothing.
  private long writeData(TargetFile target, long offset, int length) throws IOException {
    long writtenEnd = 0;
    int start = 0;
    int at = 0;
    while (at < length) {
      // Units are aligned in the file, so that a hole there is a hole here.
      int unit = (int) Math.min(HOLE_UNIT_BYTES - (offset + at) % HOLE_UNIT_BYTES, length - at);
      boolean zero = MemorySegment.mismatch(chunk, at, at + unit, zeroes, 0, unit) < 0;
      if (zero) {
        if (at > start) {
          target.write(offset + start, chunk.asSlice(start, at - start));
          writtenEnd = offset + at;
        }
        start = at + unit;
      }
      at += unit;
    }
    if (length > start) {
      target.write(offset + start, chunk.asSlice(start, length - start));
      writtenEnd = offset + length;
    }
    return writtenEnd;
  }

  /// The bytes in all regular files of a tree; what cannot be read counts nothing.
  static long measure(SourceFile source) throws IOException {
    if (source.type() == FileType.REGULAR) {
      return source.attributes().sizeBytes();
    }
    long sum = 0;
    if (source.type() == FileType.DIRECTORY) {
      for (FileName name : source.names()) {
        try (SourceFile child = source.child(name)) {
          sum += measure(child);
        }
      }
    }
    return sum;
  }

  @Override
  public void close() throws IOException {
    for (TargetFile target : linked.values()) {
      target.close();
    }
    arena.close();
  }
}
