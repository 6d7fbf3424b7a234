package dev.extant.nio;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Volume;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.ClosedFileSystemException;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.WatchService;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;

/// A [Volume] as a NIO file system.
///
/// 1. No operation begins after [#close()] has begun; the volume is closed after the last one
///    ended.
/// 2. Every channel and directory stream still open then is closed before the volume.
public final class ExtantFileSystem extends FileSystem {
  private final ExtantFileSystemProvider provider;
  private final Identity identity;
  private final Volume volume;
  private final NewFiles newFiles;
  private final PathLookup lookup;
  private final Operations operations;
  private final Opening opening;
  private final LockTable locks = new LockTable();
  private final ExtantPath root = new ExtantPath(this, true, List.of());
  private final Set<Closeable> open = ConcurrentHashMap.newKeySet();
  private final CountDownLatch drained = new CountDownLatch(1);
  private final Gate gate = new Gate(drained::countDown);

  /// Done when the volume is closed; what went wrong then, or null.
  private final CompletableFuture<IOException> end = new CompletableFuture<>();

  /// What a file system is known by: `key` in its URIs, `type` in its store, `device` in its files'
  /// keys.
  record Identity(String key, String type, long device) {}

  ExtantFileSystem(
      ExtantFileSystemProvider provider, Identity identity, Volume volume, NewFiles newFiles) {
    this.provider = provider;
    this.identity = identity;
    this.volume = volume;
    this.newFiles = newFiles;
    this.lookup = PathLookup.fromRoot(this);
    this.operations = new Operations(this, lookup);
    this.opening = new Opening(this, lookup);
  }

  /// A file system over a volume, which it closes with itself.
  public static ExtantFileSystem over(Volume volume) {
    return over(volume, ImageUri.SCHEME, Map.of());
  }

  /// A file system over a volume, which it closes with itself. `type` is that of its store, such as
  /// `ext4`. Known in `env` are `uid`, `gid` and `umask` of new files.
  ///
  /// @throws IllegalArgumentException for anything else in `env`
  public static ExtantFileSystem over(Volume volume, String type, Map<String, ?> env) {
    return ExtantFileSystemProvider.installed().over(volume, type, env);
  }

  /// The volume below; it stays this file system's, which closes it.
  public Volume volume() {
    return volume;
  }

  String key() {
    return identity.key();
  }

  String type() {
    return identity.type();
  }

  long deviceNumber() {
    return identity.device();
  }

  NewFiles newFiles() {
    return newFiles;
  }

  PathLookup lookup() {
    return lookup;
  }

  Operations operations() {
    return operations;
  }

  Opening opening() {
    return opening;
  }

  LockTable locks() {
    return locks;
  }

  ExtantPath rootPath() {
    return root;
  }

  /// False once the file system is closed; otherwise [#exit()] must follow.
  boolean enter() {
    return gate.enter();
  }

  void enterOrThrow() {
    if (!gate.enter()) {
      throw new ClosedFileSystemException();
    }
  }

  void exit() {
    gate.exit();
  }

  /// Runs an operation on a path, or on two, as [Errors#of] names them.
  <T> T call(ExtantPath path, ExtantPath other, Action<T> action) throws IOException {
    enterOrThrow();
    try {
      return action.run();
    } catch (FsException e) {
      throw Errors.of(e, path, other);
    } finally {
      gate.exit();
    }
  }

  /// Notes what is to be closed with the file system. Only within an operation.
  void opened(Closeable resource) {
    open.add(resource);
  }

  void closed(Closeable resource) {
    open.remove(resource);
  }

  @Override
  public ExtantFileSystemProvider provider() {
    return provider;
  }

  /// Waits for the operations that run, closes what is open, then the volume. Closing twice does
  /// nothing.
  @Override
  public void close() throws IOException {
    if (!gate.close()) {
      return;
    }
    awaitDrained();
    IOException failure = null;
    try {
      closeVolume();
    } catch (IOException e) {
      failure = e;
      throw e;
    } finally {
      provider.closed(this);
      end.complete(failure);
    }
  }

  private void closeVolume() throws IOException {
    try {
      for (Closeable resource : open) {
        resource.close();
      }
    } finally {
      try {
        volume.close();
      } catch (FsException e) {
        throw Errors.inChannel(e, root);
      }
    }
  }

  /// A file system that an error has made read-only cannot sync, which is an I/O error.
  void sync() throws IOException {
    enterOrThrow();
    try {
      volume.sync();
    } catch (FsException e) {
      throw Errors.inChannel(e, root);
    } finally {
      exit();
    }
  }

  /// See [Volume#trim].
  long trim(long minBytes) throws IOException {
    enterOrThrow();
    try {
      return volume.trim(minBytes);
    } catch (FsException e) {
      throw Errors.of(e, root, null);
    } finally {
      exit();
    }
  }

  /// Makes everything durable that was done before the call, or waits for the closing that does so.
  /// A file system whose volume was closed under it, as an error may do, is closed here, which says
  /// what went wrong then. Returns what went wrong, or null.
  IOException syncFailure() {
    try {
      sync();
      return null;
    } catch (ClosedFileSystemException e) {
      return end.join();
    } catch (IOException e) {
      return volumeIsClosed(e) ? closingFailure() : e;
    }
  }

  private static boolean volumeIsClosed(IOException failure) {
    return failure.getCause() instanceof FsException cause && cause.errno() == Errno.EBADF;
  }

  private IOException closingFailure() {
    try {
      close();
      return null;
    } catch (IOException e) {
      return e;
    }
  }

  private void awaitDrained() {
    boolean interrupted = false;
    while (true) {
      try {
        drained.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public boolean isOpen() {
    return gate.isOpen();
  }

  @Override
  public boolean isReadOnly() {
    return volume.readOnly();
  }

  @Override
  public String getSeparator() {
    return "/";
  }

  @Override
  public Iterable<Path> getRootDirectories() {
    return List.of(root);
  }

  @Override
  public Iterable<FileStore> getFileStores() {
    try {
      return List.of(fileStore());
    } catch (IOException e) {
      return List.of();
    }
  }

  FileStore fileStore() throws IOException {
    String label = operations.statistics().label();
    return new ExtantFileStore(this, label == null || label.isEmpty() ? key() : label);
  }

  @Override
  public Set<String> supportedFileAttributeViews() {
    return AttributeViews.NAMES;
  }

  @Override
  public Path getPath(String first, String... more) {
    StringBuilder path = new StringBuilder(first);
    for (String part : more) {
      if (!part.isEmpty()) {
        if (!path.isEmpty()) {
          path.append('/');
        }
        path.append(part);
      }
    }
    return ExtantPath.parse(this, NameCodec.encode(path.toString()));
  }

  @Override
  public PathMatcher getPathMatcher(String syntaxAndPattern) {
    int colon = syntaxAndPattern.indexOf(':');
    if (colon <= 0) {
      throw new IllegalArgumentException("not like glob:*.txt: " + syntaxAndPattern);
    }
    String syntax = syntaxAndPattern.substring(0, colon);
    String text = syntaxAndPattern.substring(colon + 1);
    Pattern pattern;
    if (syntax.equalsIgnoreCase("glob")) {
      pattern = GlobPattern.compile(text);
    } else if (syntax.equalsIgnoreCase("regex")) {
      pattern = Pattern.compile(text);
    } else {
      throw new UnsupportedOperationException("there is no pattern syntax " + syntax);
    }
    return path -> pattern.matcher(path.toString()).matches();
  }

  @Override
  public UserPrincipalLookupService getUserPrincipalLookupService() {
    return new Principals();
  }

  /// @throws UnsupportedOperationException always, so far
  @Override
  public WatchService newWatchService() {
    throw new UnsupportedOperationException("extant file systems have no watch service");
  }

  @Override
  public String toString() {
    return key();
  }
}
