package dev.extant.cli;

import dev.extant.vfs.Attributes;
import dev.extant.vfs.FileName;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/// A file of an image, copied from.
final class VolumeSource implements SourceFile {
  private final String text;
  private final Volume volume;
  private final Node node;
  private final Attributes attributes;

  /// Takes over the reference.
  VolumeSource(String text, Volume volume, Node node) throws IOException {
    this.text = text;
    this.volume = volume;
    this.node = node;
    this.attributes = volume.attributes(node);
  }

  private record Identity(Volume volume, long ino) {}

  Volume volume() {
    return volume;
  }

  @Override
  public Object identity() {
    return new Identity(volume, node.ino());
  }

  @Override
  public String text() {
    return text;
  }

  @Override
  public Attributes attributes() {
    return attributes;
  }

  @Override
  public List<FileName> names() throws IOException {
    return names(volume, node);
  }

  /// The names in a directory without `.` and `..`, sorted.
  static List<FileName> names(Volume volume, Node directory) throws IOException {
    List<FileName> names = new ArrayList<>();
    volume.readDirectory(
        directory,
        0,
        (name, _, _, _) -> {
          if (!name.isDot() && !name.isDotDot()) {
            names.add(name);
          }
          return true;
        });
    Collections.sort(names);
    return names;
  }

  @Override
  public SourceFile child(FileName name) throws IOException {
    String childText = Operand.child(text, name);
    try {
      return new VolumeSource(childText, volume, volume.lookup(node, name));
    } catch (IOException e) {
      throw CommandFailure.at(childText, e);
    }
  }

  @Override
  public byte[] readlink() throws IOException {
    return volume.readlink(node);
  }

  @Override
  public int read(long offset, MemorySegment target) throws IOException {
    return volume.read(node, offset, target);
  }

  @Override
  public long nextData(long offset) throws IOException {
    return volume.seekData(node, offset);
  }

  @Override
  public void close() {
    node.close();
  }
}
