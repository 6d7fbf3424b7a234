package dev.extant;

import dev.extant.block.BlockDevice;
import dev.extant.block.FileDevice;
import dev.extant.block.RequestQueue;
import dev.extant.ext4.Ext4;
import dev.extant.ext4.Ext4Volume;
import dev.extant.ext4.MountReport;
import dev.extant.journal.JournalReader;
import dev.extant.journal.JournalStatistics;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.nio.ExtantFileSystem;
import dev.extant.nio.ExtantFiles;
import dev.extant.vfs.AllocateMode;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.TuneOptions;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/// A mounted file system, and the way to make and mount one.
///
/// [#fileSystem()] is for everything that `java.nio.file` knows; the static methods that take a
/// path, and [ExtantFiles], are for what it does not know and apply to any path of any mount;
/// [#volume()] is what lies below both. All act on the same mount, which is closed by [#close()] or
/// with its file system. `FileSystems.newFileSystem(Path.of("data.img"), Map.of())` mounts as well.
///
/// With the mount option `ro` nothing is ever written to the image: a journal that needs it is
/// replayed in memory, or not at all with `noload`.
public final class Extant implements AutoCloseable {
  private final Ext4Volume volume;
  private final ExtantFileSystem fileSystem;

  private Extant(Ext4Volume volume) {
    this.volume = volume;
    this.fileSystem = ExtantFileSystem.over(volume, "ext4", Map.of());
  }

  /// Mounts an image file or block device.
  public static Extant open(Path image, MountOptions options) throws FsException {
    return new Extant(Ext4.mount(image, options));
  }

  /// Mounts the file system on a device, which is closed with the mount.
  public static Extant open(BlockDevice device, MountOptions options) throws FsException {
    return new Extant(Ext4.mount(device, options));
  }

  /// Makes a file system in a new image file of the given size, or in an existing one, whose
  /// content is lost.
  public static void mkfs(Path image, long sizeBytes, MkfsOptions options) throws IOException {
    try (FileDevice device = FileDevice.create(image, sizeBytes)) {
      // Otherwise a sparse image of 10 TiB would get 160 GiB of zeroes in its inode tables.
      Mkfs.make(device, options.withZeroed(true));
    }
  }

  /// Changes what the superblock of an unmounted file system says, or adds a journal.
  public static void tune(Path image, TuneOptions options) throws IOException {
    try (FileDevice device = Ext4.device(image, false)) {
      Ext4.tune(device, options);
    }
  }

  /// Changes the size of an unmounted file system, and of the image file with it. Returns what it
  /// has become: the layout may not allow the last few blocks. EINVAL, naming the least size, if
  /// what it holds does not fit.
  public static long resize(Path image, long sizeBytes) throws IOException {
    try (FileDevice device = Ext4.device(image, false)) {
      long fileBytes = device.sizeBytes();
      if (sizeBytes < Ext4.sizeBytes(device)) {
        long reached = Ext4.shrink(device, sizeBytes);
        cutFile(image, device, sizeBytes);
        return reached;
      }
      if (sizeBytes <= fileBytes) {
        return Ext4.grow(device, sizeBytes, Long.MAX_VALUE);
      }
      Ext4.sizeBytes(device);
      device.resize(sizeBytes);
      boolean grown = false;
      try {
        long reached = Ext4.grow(device, sizeBytes, fileBytes);
        grown = true;
        return reached;
      } finally {
        if (!grown) {
          device.resize(Math.max(fileBytes, Ext4.sizeBytes(device)));
        }
      }
    }
  }

  /// Makes an unmounted file system as small as it can be, and the image file with it. Returns what
  /// it has become.
  public static long shrinkToMinimum(Path image) throws IOException {
    try (FileDevice device = Ext4.device(image, false)) {
      long reached = Ext4.shrinkToMinimum(device);
      cutFile(image, device, reached);
      return reached;
    }
  }

  /// How small an unmounted file system can become, estimated rather too large than too small.
  /// Writes nothing.
  public static long minimumSize(Path image) throws IOException {
    try (FileDevice device = Ext4.device(image, true)) {
      return Ext4.minimumBytes(device);
    }
  }

  /// The file system has ended before that already.
  private static void cutFile(Path image, FileDevice device, long sizeBytes) throws IOException {
    if (Files.isRegularFile(image) && sizeBytes < device.sizeBytes()) {
      device.resize(sizeBytes);
    }
  }

  /// What is in the journal of a file system that is not mounted. Changes nothing.
  public static JournalReader journal(RequestQueue queue) throws IOException {
    return JournalReader.open(Ext4.journalPlace(queue));
  }

  /// Done when the file's data and attributes, or the directory's entries, and the names on the way
  /// there are durable; failed with an [IOException] otherwise. For a path of any mount.
  public static CompletableFuture<Void> fsync(Path path) {
    return ExtantFiles.fsync(path);
  }

  /// Makes everything durable that was done before the call in any mount of this JVM, in all of
  /// them at the same time.
  ///
  /// @throws IOException the first failure, the others being suppressed
  public static void syncAll() throws IOException {
    ExtantFiles.syncAll();
  }

  /// Allocates, frees, zeroes or moves a range of a file, as fallocate(2) does. For a path of any
  /// mount.
  public static void allocate(Path path, AllocateMode mode, long offset, long lengthBytes)
      throws IOException {
    ExtantFiles.allocate(path, mode, offset, lengthBytes);
  }

  /// Tells the device which blocks are free, in runs of at least `minBytes`, as fstrim(8) does;
  /// returns how many bytes. What was freed after the last sync may be left out, since a crash
  /// could bring it back. Image files keep their space: Java has no way to take it from them.
  public long trim(long minBytes) throws IOException {
    return volume.trim(minBytes);
  }

  public Volume volume() {
    return volume;
  }

  public ExtantFileSystem fileSystem() {
    return fileSystem;
  }

  /// What mounting found: a journal that was replayed, orphans, warnings.
  public MountReport mountReport() {
    return volume.mountReport();
  }

  /// The figures of this mount at one moment.
  public ExtantStatistics statistics() throws FsException {
    return new ExtantStatistics(volume.statistics(), volume.journalStatistics());
  }

  /// The journal's figures since the mount; null where there is no journal in use.
  public JournalStatistics journalStatistics() {
    return volume.journalStatistics();
  }

  /// Makes everything durable, marks the file system clean, and releases the device.
  @Override
  public void close() throws IOException {
    fileSystem.close();
  }
}
