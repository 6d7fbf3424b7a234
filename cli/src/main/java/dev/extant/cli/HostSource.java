package dev.extant.cli;

import dev.extant.vfs.Attributes;
import dev.extant.vfs.FileName;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/// A file of the host, copied from. Java cannot ask the host for holes, so all of it counts as
/// data.
final class HostSource implements SourceFile {
  private final String text;
  private final Path path;
  private final Attributes attributes;
  private FileChannel channel;

  HostSource(String text, Path path, boolean follow) throws IOException {
    this.text = text;
    this.path = path;
    this.attributes = HostFiles.attributes(path, follow);
  }

  Path path() {
    return path;
  }

  @Override
  public String text() {
    return text;
  }

  @Override
  public Attributes attributes() {
    return attributes;
  }

  /// The file's key holds device and inode number.
  @Override
  public Object identity() throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class, HostFiles.NO_FOLLOW).fileKey();
  }

  @Override
  public List<FileName> names() throws IOException {
    List<FileName> names = new ArrayList<>();
    try (DirectoryStream<Path> children = Files.newDirectoryStream(path)) {
      children.forEach(child -> names.add(Names.ofHost(child)));
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    Collections.sort(names);
    return names;
  }

  @Override
  public SourceFile child(FileName name) throws IOException {
    return new HostSource(Operand.child(text, name), Names.onHost(path, name), false);
  }

  @Override
  public byte[] readlink() throws IOException {
    return Names.bytesOfHost(Files.readSymbolicLink(path));
  }

  @Override
  public int read(long offset, MemorySegment target) throws IOException {
    if (channel == null) {
      channel = FileChannel.open(path, StandardOpenOption.READ);
    }
    ByteBuffer buffer = target.asByteBuffer();
    while (buffer.hasRemaining()) {
      if (channel.read(buffer, offset + buffer.position()) < 0) {
        break;
      }
    }
    return buffer.position();
  }

  @Override
  public long nextData(long offset) {
    return offset;
  }

  @Override
  public void close() throws IOException {
    if (channel != null) {
      channel.close();
    }
  }
}
