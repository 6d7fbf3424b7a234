package dev.extant.nio;

import dev.extant.vfs.Volume;
import dev.extant.vfs.VolumeStatistics;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileOwnerAttributeView;
import java.nio.file.attribute.FileStoreAttributeView;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.Set;

/// The figures of one file system. Its name is its label, or the key of its URIs when it has none.
final class ExtantFileStore extends FileStore {
  private static final Set<Class<?>> VIEWS =
      Set.of(
          BasicFileAttributeView.class, PosixFileAttributeView.class, FileOwnerAttributeView.class);

  private final ExtantFileSystem fileSystem;
  private final String name;

  ExtantFileStore(ExtantFileSystem fileSystem, String name) {
    this.fileSystem = fileSystem;
    this.name = name;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String type() {
    return fileSystem.type();
  }

  @Override
  public boolean isReadOnly() {
    return fileSystem.isReadOnly();
  }

  @Override
  public long getTotalSpace() throws IOException {
    VolumeStatistics now = fileSystem.operations().statistics();
    return now.totalBlocks() * now.blockSizeBytes();
  }

  @Override
  public long getUsableSpace() throws IOException {
    VolumeStatistics now = fileSystem.operations().statistics();
    return now.availableBlocks() * now.blockSizeBytes();
  }

  @Override
  public long getUnallocatedSpace() throws IOException {
    VolumeStatistics now = fileSystem.operations().statistics();
    return now.freeBlocks() * now.blockSizeBytes();
  }

  @Override
  public long getBlockSize() throws IOException {
    return fileSystem.operations().statistics().blockSizeBytes();
  }

  @Override
  public boolean supportsFileAttributeView(Class<? extends FileAttributeView> type) {
    return type == UserDefinedFileAttributeView.class ? hasUserAttributes() : VIEWS.contains(type);
  }

  @Override
  public boolean supportsFileAttributeView(String view) {
    return view.equals("user") ? hasUserAttributes() : AttributeViews.NAMES.contains(view);
  }

  /// True if the volume has extended attributes, which those in use have.
  private boolean hasUserAttributes() {
    try {
      fileSystem.operations().onNode(fileSystem.rootPath(), Follow.LAST, Volume::xattrs);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public <V extends FileStoreAttributeView> V getFileStoreAttributeView(Class<V> type) {
    return null;
  }

  @Override
  public Object getAttribute(String attribute) throws IOException {
    return switch (attribute) {
      case "totalSpace" -> getTotalSpace();
      case "usableSpace" -> getUsableSpace();
      case "unallocatedSpace" -> getUnallocatedSpace();
      default ->
          throw new UnsupportedOperationException("'" + attribute + "' is not known of a store");
    };
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ExtantFileStore store && store.fileSystem == fileSystem;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(fileSystem);
  }

  @Override
  public String toString() {
    return name + " (" + type() + ")";
  }
}
