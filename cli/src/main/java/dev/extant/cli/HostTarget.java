package dev.extant.cli;

import dev.extant.vfs.Attributes;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;

/// A file of the host, copied to.
final class HostTarget implements TargetFile {
  private final String text;
  private final Path path;
  private final FileType type;
  private FileChannel channel;

  HostTarget(String text, Path path, FileType type) {
    this.text = text;
    this.path = path;
    this.type = type;
  }

  Path path() {
    return path;
  }

  private HostTarget made(FileName name, FileType childType) {
    return new HostTarget(Operand.child(text, name), Names.onHost(path, name), childType);
  }

  @Override
  public String text() {
    return text;
  }

  @Override
  public FileType type() {
    return type;
  }

  @Override
  public boolean isSame(SourceFile source) throws IOException {
    return source instanceof HostSource other && Files.isSameFile(other.path(), path);
  }

  @Override
  public TargetFile child(FileName name) throws IOException {
    try {
      return made(name, HostFiles.attributes(Names.onHost(path, name), false).type());
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  @Override
  public TargetFile create(FileName name, int permissions) throws IOException {
    HostTarget file = made(name, FileType.REGULAR);
    file.channel =
        FileChannel.open(file.path, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
    file.permissions(permissions);
    return file;
  }

  @Override
  public TargetFile mkdir(FileName name, int permissions) throws IOException {
    HostTarget directory = made(name, FileType.DIRECTORY);
    Files.createDirectory(directory.path);
    directory.permissions(permissions);
    return directory;
  }

  @Override
  public TargetFile symlink(FileName name, byte[] target) throws IOException {
    HostTarget link = made(name, FileType.SYMLINK);
    Files.createSymbolicLink(link.path, Names.pathOfHost(target));
    return link;
  }

  /// Java cannot make such files.
  @Override
  public TargetFile mknod(FileName name, FileType nodeType, long rdev, int permissions) {
    return null;
  }

  @Override
  public void link(TargetFile existing, FileName name) throws IOException {
    Files.createLink(Names.onHost(path, name), ((HostTarget) existing).path);
  }

  @Override
  public void unlink(FileName name) throws IOException {
    Files.delete(Names.onHost(path, name));
  }

  @Override
  public void write(long offset, MemorySegment source) throws IOException {
    ByteBuffer buffer = source.asByteBuffer();
    while (buffer.hasRemaining()) {
      channel().write(buffer, offset + buffer.position());
    }
  }

  @Override
  public void truncate(long sizeBytes) throws IOException {
    if (sizeBytes < channel().size()) {
      channel().truncate(sizeBytes);
    } else if (sizeBytes > channel().size()) {
      // A byte written far behind the end leaves a hole before it.
      channel().write(ByteBuffer.allocate(1), sizeBytes - 1);
    }
  }

  private FileChannel channel() throws IOException {
    if (channel == null) {
      channel = FileChannel.open(path, StandardOpenOption.WRITE);
    }
    return channel;
  }

  /// Owners are kept where we may: only root may give files away. They come first, since a change
  /// of owner clears setuid and setgid.
  @Override
  public void preserve(Attributes attributes) throws IOException {
    if (HostFiles.hasUnixAttributes(path)) {
      try {
        Files.setAttribute(path, "unix:uid", (int) attributes.uid(), HostFiles.NO_FOLLOW);
        Files.setAttribute(path, "unix:gid", (int) attributes.gid(), HostFiles.NO_FOLLOW);
      } catch (FileSystemException e) {
        if (isRoot()) {
          throw e;
        }
      }
    }
    if (type != FileType.SYMLINK) {
      permissions(attributes.permissions());
    }
    Files.getFileAttributeView(path, BasicFileAttributeView.class, HostFiles.NO_FOLLOW)
        .setTimes(
            FileTime.from(attributes.times().modified()),
            FileTime.from(attributes.times().accessed()),
            null);
  }

  private static boolean isRoot() {
    return "root".equals(System.getProperty("user.name"));
  }

  @Override
  public void permissions(int permissions) throws IOException {
    if (HostFiles.hasUnixAttributes(path)) {
      Files.setAttribute(path, "unix:mode", permissions, HostFiles.NO_FOLLOW);
    }
  }

  @Override
  public TargetFile retain() {
    return new HostTarget(text, path, type);
  }

  @Override
  public void close() throws IOException {
    if (channel != null) {
      channel.close();
    }
  }
}
