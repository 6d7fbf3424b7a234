package dev.extant.ext4;

import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Jbd2Journal;
import dev.extant.journal.JournalStatistics;
import dev.extant.vfs.AllocateMode;
import dev.extant.vfs.AttributeChange;
import dev.extant.vfs.Attributes;
import dev.extant.vfs.DirectoryVisitor;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileTimes;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.RenameMode;
import dev.extant.vfs.Volume;
import dev.extant.vfs.VolumeStatistics;
import dev.extant.vfs.XattrMode;
import dev.extant.vfs.XattrName;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;

/// The ext4 file system behind the [Volume] interface: counts operations in and out, refuses
/// changes of a read-only mount, and turns every failure below into an [FsException]. The work is
/// done by the classes that [Mount] holds.
public final class Ext4Volume implements Volume {
  private final Mount mount;
  private final MountReport mountReport;
  private final Namespace namespace;
  private final Rename rename;
  private final AttributeChanges attributeChanges;
  private final ExtendedAttributes extendedAttributes;
  private final OperationGate gate;

  /// With `errors=panic`: how the mount ended that an error closed; null before.
  private final AtomicReference<CompletableFuture<Void>> panic = new AtomicReference<>();

  Ext4Volume(Mount mount, MountReport mountReport) {
    this.mount = mount;
    this.gate = mount.gate;
    this.mountReport = mountReport;
    this.namespace = new Namespace(mount);
    this.rename = new Rename(mount, namespace);
    this.attributeChanges = new AttributeChanges(mount);
    this.extendedAttributes = new ExtendedAttributes(mount);
  }

  public MountReport mountReport() {
    return mountReport;
  }

  /// Null without a journal.
  public JournalStatistics journalStatistics() {
    return mount.journal instanceof Jbd2Journal journal ? journal.statistics() : null;
  }

  /// How many inodes somebody has a reference to, for tests that look for forgotten ones.
  int referencedInodes() {
    return mount.inodes.referenced();
  }

  private interface Operation<T> {
    T run() throws IOException;
  }

  private <T> T reading(Operation<T> operation) throws FsException {
    gate.enter();
    try {
      return operation.run();
    } catch (IOException e) {
      throw translated(e);
    } finally {
      gate.leave();
    }
  }

  private <T> T changing(Operation<T> operation) throws FsException {
    return reading(
        () -> {
          mount.health.checkWritable();
          return operation.run();
        });
  }

  /// Corruption that an operation ran into also goes to [Health], which decides whether the mount
  /// goes on.
  private FsException translated(Throwable error) {
    FsException translation = Translation.of(error);
    if (translation.errno() == Errno.EUCLEAN) {
      mount.health.corrupt(translation);
    }
    if (mount.health.mustClose() && !gate.closed()) {
      panic();
    }
    return translation;
  }

  /// Closes the volume from a thread of its own, since the caller is inside the gate. The failure
  /// that this ends with is for whoever closes the volume later.
  private void panic() {
    CompletableFuture<Void> end = new CompletableFuture<>();
    if (panic.compareAndSet(null, end)) {
      Thread.ofVirtual().name("extant-panic").start(() -> closeFor(end));
    }
  }

  private void closeFor(CompletableFuture<Void> end) {
    try {
      if (gate.close()) {
        mount.unmount();
      }
      end.complete(null);
    } catch (IOException | RuntimeException e) {
      end.completeExceptionally(e);
    }
  }

  private static Inode inode(Node node) {
    return (Inode) node;
  }

  @Override
  public boolean readOnly() {
    return mount.health.readOnly();
  }

  @Override
  public Node root() throws FsException {
    return reading(() -> mount.inodes.get(Mount.ROOT_INO));
  }

  @Override
  public Node lookup(Node directory, FileName name) throws FsException {
    return reading(() -> namespace.lookup(inode(directory), name));
  }

  @Override
  public Node create(Node directory, FileName name, NewFile file) throws FsException {
    return changing(() -> namespace.create(inode(directory), name, FileType.REGULAR, file));
  }

  @Override
  public Node mkdir(Node directory, FileName name, NewFile file) throws FsException {
    return changing(() -> namespace.mkdir(inode(directory), name, file));
  }

  @Override
  public Node symlink(Node directory, FileName name, byte[] target, NewFile file)
      throws FsException {
    return changing(() -> namespace.symlink(inode(directory), name, target, file));
  }

  @Override
  public Node mknod(Node directory, FileName name, FileType type, long rdev, NewFile file)
      throws FsException {
    return switch (type) {
      case DIRECTORY, SYMLINK ->
          throw new FsException(Errno.EINVAL, "mknod makes no " + type + ": " + name);
      case REGULAR, CHARACTER_DEVICE, BLOCK_DEVICE, FIFO, SOCKET ->
          changing(() -> namespace.mknod(inode(directory), name, type, rdev, file));
    };
  }

  @Override
  public void link(Node target, Node directory, FileName name) throws FsException {
    changing(
        () -> {
          namespace.link(inode(target), inode(directory), name);
          return null;
        });
  }

  @Override
  public void unlink(Node directory, FileName name) throws FsException {
    changing(
        () -> {
          namespace.unlink(inode(directory), name);
          return null;
        });
  }

  @Override
  public void rmdir(Node directory, FileName name) throws FsException {
    changing(
        () -> {
          namespace.rmdir(inode(directory), name);
          return null;
        });
  }

  @Override
  public void rename(
      Node fromDirectory, FileName from, Node toDirectory, FileName to, RenameMode mode)
      throws FsException {
    changing(
        () -> {
          rename.rename(inode(fromDirectory), from, inode(toDirectory), to, mode);
          return null;
        });
  }

  @Override
  public byte[] readlink(Node symlink) throws FsException {
    return reading(
        () -> {
          byte[] target = mount.symlinks.read(inode(symlink));
          mount.accessTimes.read(inode(symlink));
          return target;
        });
  }

  @Override
  public Attributes attributes(Node node) throws FsException {
    return reading(() -> attributes(inode(node)));
  }

  private Attributes attributes(Inode inode) {
    inode.lock.readLock().lock();
    try {
      MemorySegment raw = inode.raw;
      boolean device =
          inode.type() == FileType.CHARACTER_DEVICE || inode.type() == FileType.BLOCK_DEVICE;
      long unit = inode.hasFlag(RawInode.EXT4_HUGE_FILE_FL) ? mount.geometry.blockSizeBytes() : 512;
      return new Attributes(
          inode.ino(),
          RawInode.generation(raw),
          inode.type(),
          RawInode.mode(raw),
          RawInode.linksCount(raw),
          RawInode.uid(raw),
          RawInode.gid(raw),
          inode.type() == FileType.SYMLINK
              ? mount.symlinks.targetLength(inode)
              : RawInode.size(raw),
          RawInode.blocks(raw) * unit,
          mount.geometry.blockSizeBytes(),
          device ? NewInodes.deviceNumber(raw) : 0,
          new FileTimes(
              RawInode.accessed(raw),
              RawInode.modified(raw),
              RawInode.changed(raw),
              RawInode.created(raw)));
    } finally {
      inode.lock.readLock().unlock();
    }
  }

  @Override
  public void setAttributes(Node node, AttributeChange change) throws FsException {
    changing(
        () -> {
          attributeChanges.apply(inode(node), change);
          return null;
        });
  }

  @Override
  public List<XattrName> xattrs(Node node) throws FsException {
    return reading(() -> extendedAttributes.names(inode(node)));
  }

  @Override
  public byte[] xattr(Node node, XattrName name) throws FsException {
    return reading(() -> extendedAttributes.get(inode(node), name));
  }

  @Override
  public void setXattr(Node node, XattrName name, byte[] value, XattrMode mode) throws FsException {
    changing(
        () -> {
          extendedAttributes.set(inode(node), name, value, mode);
          return null;
        });
  }

  @Override
  public void removeXattr(Node node, XattrName name) throws FsException {
    changing(
        () -> {
          extendedAttributes.remove(inode(node), name);
          return null;
        });
  }

  @Override
  public int read(Node file, long offset, MemorySegment target) throws FsException {
    return reading(
        () -> {
          int count = mount.files.read(regular(file), offset, target);
          mount.accessTimes.read(inode(file));
          return count;
        });
  }

  @Override
  public int write(Node file, long offset, MemorySegment source) throws FsException {
    return changing(() -> mount.files.write(regular(file), offset, source));
  }

  @Override
  public long append(Node file, MemorySegment source) throws FsException {
    return changing(() -> mount.files.append(regular(file), source));
  }

  @Override
  public void truncate(Node file, long sizeBytes) throws FsException {
    changing(
        () -> {
          mount.files.truncate(regular(file), sizeBytes);
          return null;
        });
  }

  @Override
  public long seekData(Node file, long offset) throws FsException {
    return reading(() -> mount.files.seekData(regular(file), offset));
  }

  @Override
  public long seekHole(Node file, long offset) throws FsException {
    return reading(() -> mount.files.seekHole(regular(file), offset));
  }

  @Override
  public void allocate(Node file, AllocateMode mode, long offset, long lengthBytes)
      throws FsException {
    changing(
        () -> {
          mount.ranges.allocate(regular(file), mode, offset, lengthBytes);
          return null;
        });
  }

  @Override
  public long trim(long minBytes) throws FsException {
    return changing(() -> mount.discarder.trim(minBytes));
  }

  private static Inode regular(Node node) throws FsException {
    return switch (node.type()) {
      case REGULAR -> inode(node);
      case DIRECTORY ->
          throw new FsException(Errno.EISDIR, "inode " + node.ino() + " is a directory");
      default ->
          throw new FsException(Errno.EINVAL, "inode " + node.ino() + " is not a regular file");
    };
  }

  @Override
  public void readDirectory(Node directory, long cookie, DirectoryVisitor visitor)
      throws FsException {
    reading(
        () -> {
          Inode inode = inode(directory);
          Namespace.checkDirectory(inode);
          inode.lock.readLock().lock();
          try {
            if (RawInode.linksCount(inode.raw) > 0) {
              mount.directories.read(inode, cookie, visitor);
            }
          } finally {
            inode.lock.readLock().unlock();
          }
          mount.accessTimes.read(inode);
          return null;
        });
  }

  @Override
  public CompletableFuture<Void> fsync(Node node, boolean dataOnly) {
    try {
      return reading(() -> mount.syncs.fsync(inode(node), dataOnly))
          .handle(
              (done, error) -> {
                if (error != null) {
                  throw new CompletionException(translated(error));
                }
                return done;
              });
    } catch (FsException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public void sync() throws FsException {
    reading(
        () -> {
          mount.syncs.sync();
          return null;
        });
  }

  @Override
  public VolumeStatistics statistics() throws FsException {
    return reading(mount::statistics);
  }

  @Override
  public void close() throws FsException {
    if (!gate.close()) {
      awaitPanic();
      return;
    }
    try {
      mount.unmount();
    } catch (IOException e) {
      throw Translation.of(e);
    }
  }

  private void awaitPanic() throws FsException {
    CompletableFuture<Void> end = panic.getAndSet(CompletableFuture.completedFuture(null));
    if (end != null) {
      try {
        end.join();
      } catch (CompletionException e) {
        throw Translation.of(e);
      }
    }
  }
}
