package dev.extant.cli;

import dev.extant.vfs.AttributeChange;
import dev.extant.vfs.Attributes;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// A file of an image, copied to. New files belong to root until told otherwise.
final class VolumeTarget implements TargetFile {
  private final String text;
  private final Volume volume;
  private final Node node;

  /// Takes over the reference.
  VolumeTarget(String text, Volume volume, Node node) {
    this.text = text;
    this.volume = volume;
    this.node = node;
  }

  private interface Maker {
    Node make() throws FsException;
  }

  private VolumeTarget made(FileName name, Maker maker) throws IOException {
    String childText = Operand.child(text, name);
    try {
      return new VolumeTarget(childText, volume, maker.make());
    } catch (IOException e) {
      throw CommandFailure.at(childText, e);
    }
  }

  private static NewFile ownedByRoot(int permissions) {
    return new NewFile(permissions, 0, 0);
  }

  @Override
  public String text() {
    return text;
  }

  @Override
  public FileType type() {
    return node.type();
  }

  @Override
  public boolean isSame(SourceFile source) {
    return source instanceof VolumeSource other
        && other.volume() == volume
        && other.attributes().ino() == node.ino();
  }

  @Override
  public TargetFile child(FileName name) throws IOException {
    try {
      return new VolumeTarget(Operand.child(text, name), volume, volume.lookup(node, name));
    } catch (FsException e) {
      if (e.errno() == Errno.ENOENT) {
        return null;
      }
      throw CommandFailure.at(Operand.child(text, name), e);
    }
  }

  @Override
  public TargetFile create(FileName name, int permissions) throws IOException {
    return made(name, () -> volume.create(node, name, ownedByRoot(permissions)));
  }

  @Override
  public TargetFile mkdir(FileName name, int permissions) throws IOException {
    return made(name, () -> volume.mkdir(node, name, ownedByRoot(permissions)));
  }

  @Override
  public TargetFile symlink(FileName name, byte[] target) throws IOException {
    return made(name, () -> volume.symlink(node, name, target, ownedByRoot(0777)));
  }

  @Override
  public TargetFile mknod(FileName name, FileType type, long rdev, int permissions)
      throws IOException {
    return made(name, () -> volume.mknod(node, name, type, rdev, ownedByRoot(permissions)));
  }

  @Override
  public void link(TargetFile existing, FileName name) throws IOException {
    try {
      volume.link(((VolumeTarget) existing).node, node, name);
    } catch (IOException e) {
      throw CommandFailure.at(Operand.child(text, name), e);
    }
  }

  @Override
  public void unlink(FileName name) throws IOException {
    try {
      volume.unlink(node, name);
    } catch (IOException e) {
      throw CommandFailure.at(Operand.child(text, name), e);
    }
  }

  @Override
  public void write(long offset, MemorySegment source) throws IOException {
    int written = volume.write(node, offset, source);
    if (written < source.byteSize()) {
      // The disk is full: the rest makes the volume say so.
      MemorySegment rest = source.asSlice(written);
      if (volume.write(node, offset + written, rest) < rest.byteSize()) {
        throw new FsException(Errno.ENOSPC, Errno.ENOSPC.text());
      }
    }
  }

  @Override
  public void truncate(long sizeBytes) throws IOException {
    volume.truncate(node, sizeBytes);
  }

  @Override
  public void preserve(Attributes attributes) throws IOException {
    Integer permissions = node.type() == FileType.SYMLINK ? null : attributes.permissions();
    volume.setAttributes(
        node,
        new AttributeChange(
            permissions,
            attributes.uid(),
            attributes.gid(),
            attributes.times().accessed(),
            attributes.times().modified(),
            null));
  }

  @Override
  public void permissions(int permissions) throws IOException {
    volume.setAttributes(node, AttributeChange.permissions(permissions));
  }

  @Override
  public TargetFile retain() {
    return new VolumeTarget(text, volume, node.retain());
  }

  @Override
  public void close() {
    node.close();
  }
}
