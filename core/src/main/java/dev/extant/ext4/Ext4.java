package dev.extant.ext4;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.block.FileDevice;
import dev.extant.block.RequestQueue;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.JournalPlace;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.TuneOptions;
import dev.extant.vfs.Volume;
import dev.extant.vfs.VolumeOpener;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/// Opens ext4 file systems: in image files and block devices by path, or on any [BlockDevice].
public final class Ext4 implements VolumeOpener {
  @Override
  public String type() {
    return "ext4";
  }

  @Override
  public boolean recognises(Path image) throws IOException {
    byte[] bytes = new byte[Superblock.SIZE];
    try (SeekableByteChannel channel = Files.newByteChannel(image)) {
      channel.position(Superblock.OFFSET);
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      while (buffer.hasRemaining()) {
        if (channel.read(buffer) < 0) {
          return false;
        }
      }
    }
    return Superblock.hasMagic(MemorySegment.ofArray(bytes));
  }

  @Override
  public Volume open(Path image, MountOptions options) throws FsException {
    return mount(image, options);
  }

  /// Mounts the file system of an image file or block device. An image that cannot be written is
  /// mounted read-only.
  public static Ext4Volume mount(Path image, MountOptions options) throws FsException {
    return mount(device(image, options.readOnly() || !Files.isWritable(image)), options);
  }

  /// Opens an image file or block device. EBUSY if it is in use; ENOENT, EACCES or EIO, with the
  /// image's name, if it cannot be opened.
  public static FileDevice device(Path image, boolean readOnly) throws FsException {
    try {
      return FileDevice.open(image, readOnly);
    } catch (DeviceException e) {
      Errno errno = e.kind() == DeviceException.Kind.REFUSED ? Errno.EBUSY : Errno.EIO;
      throw new FsException(errno, e.getMessage(), e);
    } catch (NoSuchFileException e) {
      throw new FsException(Errno.ENOENT, image + ": no such file", e);
    } catch (AccessDeniedException e) {
      throw new FsException(Errno.EACCES, image + ": permission denied", e);
    } catch (IOException e) {
      throw new FsException(Errno.EIO, image + " cannot be opened: " + e.getMessage(), e);
    }
  }

  /// Mounts the file system on a device, which the mount owns from now on: it is closed with it,
  /// and also when this fails.
  public static Ext4Volume mount(BlockDevice device, MountOptions options) throws FsException {
    return mount(new Mounter(device, options));
  }

  static Ext4Volume mount(Mounter mounter) throws FsException {
    try {
      Mount mount = mounter.mount();
      return new Ext4Volume(mount, mounter.report());
    } catch (IOException e) {
      throw Translation.of(e);
    }
  }

  /// Changes what the superblock says, or adds a journal, while nobody has the file system mounted.
  /// The device stays open.
  public static void tune(BlockDevice device, TuneOptions options) throws FsException {
    try {
      new Tuning(device, options, MountOptions.defaults()).run();
    } catch (IOException e) {
      throw Translation.of(e);
    }
  }

  /// Grows a file system that nobody has mounted to as near below the size as its layout allows;
  /// the device is at least so large, and holds zeroes behind the old end if `zeroed`. Returns the
  /// new size. The device stays open.
  public static long grow(BlockDevice device, long sizeBytes, long zeroesFrom) throws FsException {
    try {
      long blockSizeBytes = geometry(device).blockSizeBytes();
      new Growth(device, MountOptions.defaults(), zeroesFrom).growTo(sizeBytes / blockSizeBytes);
      return geometry(device).blocksCount() * blockSizeBytes;
    } catch (IOException e) {
      throw Translation.of(e);
    }
  }

  /// Shrinks a file system that nobody has mounted to as near below the size as its layout allows:
  /// what lies behind the new end moves. Returns the new size. EINVAL, naming the least size, if
  /// what it holds does not fit. The device stays open, and its size is the caller's to change.
  public static long shrink(BlockDevice device, long sizeBytes) throws FsException {
    try {
      long blockSizeBytes = geometry(device).blockSizeBytes();
      new Shrinking(device, MountOptions.defaults()).shrinkTo(sizeBytes / blockSizeBytes);
      return geometry(device).blocksCount() * blockSizeBytes;
    } catch (IOException e) {
      throw Translation.of(e);
    }
  }

  /// Shrinks it as far as possible. Returns the new size.
  public static long shrinkToMinimum(BlockDevice device) throws FsException {
    try {
      new Shrinking(device, MountOptions.defaults()).shrinkToMinimum();
      return sizeBytes(device);
    } catch (IOException e) {
      throw Translation.of(e);
    }
  }

  /// How small the file system on a device can become, estimated rather too large than too small.
  /// Writes nothing.
  public static long minimumBytes(BlockDevice device) throws FsException {
    try {
      long blockSizeBytes = geometry(device).blockSizeBytes();
      return new Shrinking(device, MountOptions.defaults()).minimumBlocks() * blockSizeBytes;
    } catch (IOException e) {
      throw Translation.of(e);
    }
  }

  /// The size of the file system on a device, as its superblock says.
  public static long sizeBytes(BlockDevice device) throws FsException {
    try {
      Geometry geometry = geometry(device);
      return geometry.blocksCount() * geometry.blockSizeBytes();
    } catch (IOException e) {
      throw Translation.of(e);
    }
  }

  private static Geometry geometry(BlockDevice device) throws IOException {
    RequestQueue queue = new RequestQueue(new BorrowedDevice(device));
    try {
      return Superblock.geometry(new SuperblockReader(queue).read().bytes(), device.sizeBytes());
    } finally {
      queue.close();
    }
  }

  /// Where the journal lies of a file system that is not mounted. Changes nothing.
  public static JournalPlace journalPlace(RequestQueue queue) throws FsException {
    try {
      MemorySegment superblock = new SuperblockReader(queue).read().bytes();
      Superblock.features(superblock).requireReadable(queue.device().name());
      if (!Superblock.features(superblock).has(Feature.HAS_JOURNAL)) {
        throw new FsException(Errno.EOPNOTSUPP, queue.device().name() + " has no journal");
      }
      return Mounter.journalPlace(queue, superblock);
    } catch (IOException e) {
      throw Translation.of(e);
    }
  }
}
