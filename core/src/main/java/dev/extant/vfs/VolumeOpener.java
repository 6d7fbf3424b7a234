package dev.extant.vfs;

import java.io.IOException;
import java.nio.file.Path;

/// Opens images of one family of file systems. Found with [java.util.ServiceLoader], so that fronts
/// need not know the implementations.
public interface VolumeOpener {
  /// The family's name as mount(8) knows it, such as `ext4`.
  String type();

  /// True if the file looks like an image of this family (by its magic number); reads only.
  boolean recognises(Path image) throws IOException;

  /// Mounts the image. [FsException] EBUSY when it is open for writing elsewhere, EOPNOTSUPP naming
  /// an unknown feature, EUCLEAN for a corrupt image, each in one sentence.
  Volume open(Path image, MountOptions options) throws FsException;
}
