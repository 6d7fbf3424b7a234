package dev.extant.nio;

import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.Volume;
import dev.extant.vfs.VolumeOpener;
import java.io.IOException;
import java.net.URI;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.Channel;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/// The provider of scheme `extant`: images as file systems.
///
/// An image is opened with `FileSystems.newFileSystem(Path.of("data.img"), Map.of("ro", true))` or
/// by its URI, `extant:file:///srv/data.img`; a path in it is `extant:file:///srv/data.img!/path`.
/// The environment holds mount options by name (see [MountOptions#fromMap]) and `uid`, `gid` and
/// `umask` of new files, by default 0, 0 and 022. A URI may hold them too,
/// `extant:file:///srv/data.img?ro&umask=077`; the environment overrides it.
public final class ExtantFileSystemProvider extends FileSystemProvider {
  /// Begins the key of a file system over a volume that is no image.
  private static final String VOLUME = "volume:";

  private final Registry registry = new Registry();
  private final AtomicLong devices = new AtomicLong();

  /// For [ServiceLoader]; others find the provider in [FileSystemProvider#installedProviders].
  public ExtantFileSystemProvider() {}

  /// The installed provider, or a new one where this class is not on the path of the system class
  /// loader.
  static ExtantFileSystemProvider installed() {
    for (FileSystemProvider provider : installedProviders()) {
      if (provider instanceof ExtantFileSystemProvider ours) {
        return ours;
      }
    }
    return new ExtantFileSystemProvider();
  }

  @Override
  public String getScheme() {
    return ImageUri.SCHEME;
  }

  @Override
  public FileSystem newFileSystem(URI uri, Map<String, ?> env) throws IOException {
    ImageUri image = ImageUri.parse(uri);
    if (image.path().length != 1) {
      throw new IllegalArgumentException("names a path in a file system, not one: " + uri);
    }
    Map<String, Object> options = new LinkedHashMap<>(image.options());
    options.putAll(env);
    return newFileSystem(Path.of(URI.create(image.key())), options);
  }

  /// @throws UnsupportedOperationException if the file is no image of a kind that is known
  /// @throws java.nio.file.FileSystemAlreadyExistsException if it is open in this JVM already
  @Override
  public FileSystem newFileSystem(Path image, Map<String, ?> env) throws IOException {
    VolumeOpener opener = opener(image);
    NewFiles newFiles = NewFiles.of(env);
    MountOptions options = MountOptions.fromMap(NewFiles.others(env));
    String key = image.toRealPath().toUri().toString();
    registry.reserve(key);
    boolean opened = false;
    try {
      Volume volume = opener.open(image, options);
      ExtantFileSystem fileSystem = register(key, opener.type(), volume, newFiles);
      opened = true;
      return fileSystem;
    } catch (FsException e) {
      throw Errors.inChannel(e, image);
    } finally {
      if (!opened) {
        registry.remove(key);
      }
    }
  }

  private static VolumeOpener opener(Path image) throws IOException {
    if (Files.notExists(image)) {
      throw new NoSuchFileException(image.toString());
    }
    if (!Files.isDirectory(image)) {
      ClassLoader loader = ExtantFileSystemProvider.class.getClassLoader();
      for (VolumeOpener opener : ServiceLoader.load(VolumeOpener.class, loader)) {
        if (opener.recognises(image)) {
          return opener;
        }
      }
    }
    throw new UnsupportedOperationException(image + " is not an image of a known kind");
  }

  ExtantFileSystem over(Volume volume, String type, Map<String, ?> env) {
    NewFiles newFiles = NewFiles.of(env);
    Set<String> unknown = NewFiles.others(env).keySet();
    if (!unknown.isEmpty()) {
      throw new IllegalArgumentException("not known here: " + unknown);
    }
    String key = VOLUME + devices.incrementAndGet();
    registry.reserve(key);
    return register(key, type, volume, newFiles);
  }

  private ExtantFileSystem register(String key, String type, Volume volume, NewFiles newFiles) {
    ExtantFileSystem.Identity identity =
        new ExtantFileSystem.Identity(key, type, devices.incrementAndGet());
    ExtantFileSystem fileSystem = new ExtantFileSystem(this, identity, volume, newFiles);
    registry.put(fileSystem);
    return fileSystem;
  }

  /// Makes everything durable that was done in any open file system before the call, in all of them
  /// at the same time.
  ///
  /// @throws IOException the first failure, the others being suppressed
  void syncAll() throws IOException {
    List<CompletableFuture<IOException>> failures = new ArrayList<>();
    for (ExtantFileSystem fileSystem : registry.all()) {
      failures.add(
          CompletableFuture.supplyAsync(
              fileSystem::syncFailure, ExtantFileSystemProvider::startVirtually));
    }
    IOException first = null;
    for (CompletableFuture<IOException> each : failures) {
      IOException failure = each.join();
      if (first == null) {
        first = failure;
      } else if (failure != null) {
        first.addSuppressed(failure);
      }
    }
    if (first != null) {
      throw first;
    }
  }

  void closed(ExtantFileSystem fileSystem) {
    registry.remove(fileSystem.key());
  }

  @Override
  public ExtantFileSystem getFileSystem(URI uri) {
    return registry.get(canonical(ImageUri.parse(uri).key()));
  }

  @Override
  public Path getPath(URI uri) {
    ImageUri image = ImageUri.parse(uri);
    return ExtantPath.parse(registry.get(canonical(image.key())), image.path());
  }

  /// The key under which an image is registered: the URI of its real path. A key of no image, or of
  /// one whose name is gone, is its own.
  private static String canonical(String key) {
    if (key.startsWith(VOLUME)) {
      return key;
    }
    try {
      return Path.of(URI.create(key)).toRealPath().toUri().toString();
    } catch (IOException e) {
      return key;
    }
  }

  private static Operations operations(Path path) {
    return ExtantPath.of(path).getFileSystem().operations();
  }

  @Override
  public SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return newFileChannel(path, options, attributes);
  }

  @Override
  public FileChannel newFileChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return open(path, OpenOptions.of(options), ExtantFileChannel::new, attributes);
  }

  /// Without an executor each operation gets a virtual thread of its own.
  ///
  /// @throws UnsupportedOperationException for APPEND, since operations have positions
  @Override
  public AsynchronousFileChannel newAsynchronousFileChannel(
      Path path,
      Set<? extends OpenOption> options,
      ExecutorService executor,
      FileAttribute<?>... attributes)
      throws IOException {
    if (options.contains(StandardOpenOption.APPEND)) {
      throw new UnsupportedOperationException("an asynchronous channel does not append");
    }
    Executor runs = executor == null ? ExtantFileSystemProvider::startVirtually : executor;
    return open(
        path,
        OpenOptions.of(options),
        file -> new ExtantAsynchronousFileChannel(file, runs),
        attributes);
  }

  private static void startVirtually(Runnable operation) {
    Thread.ofVirtual().name("extant-nio").start(operation);
  }

  private static <C extends Channel> C open(
      Path path, OpenOptions options, Function<OpenFile, C> channel, FileAttribute<?>... attributes)
      throws IOException {
    ExtantPath file = ExtantPath.of(path);
    return file.getFileSystem().opening().open(file, options, channel, attributes);
  }

  /// A [java.nio.file.SecureDirectoryStream].
  @Override
  public DirectoryStream<Path> newDirectoryStream(
      Path directory, DirectoryStream.Filter<? super Path> filter) throws IOException {
    Objects.requireNonNull(filter);
    ExtantPath path = ExtantPath.of(directory);
    return operations(path).directoryStream(path, Follow.LAST, path, filter);
  }

  @Override
  public void createDirectory(Path directory, FileAttribute<?>... attributes) throws IOException {
    operations(directory).createDirectory(ExtantPath.of(directory), attributes);
  }

  @Override
  public void createSymbolicLink(Path link, Path target, FileAttribute<?>... attributes)
      throws IOException {
    if (attributes.length > 0) {
      throw new UnsupportedOperationException("a symbolic link is made without attributes");
    }
    operations(link).createSymbolicLink(ExtantPath.of(link), ExtantPath.of(target));
  }

  @Override
  public void createLink(Path link, Path existing) throws IOException {
    operations(link).createLink(ExtantPath.of(link), ExtantPath.of(existing));
  }

  @Override
  public Path readSymbolicLink(Path link) throws IOException {
    return operations(link).readSymbolicLink(ExtantPath.of(link));
  }

  @Override
  public void delete(Path path) throws IOException {
    operations(path).delete(ExtantPath.of(path));
  }

  @Override
  public void copy(Path source, Path target, CopyOption... options) throws IOException {
    new Transfer(ExtantPath.of(source), ExtantPath.of(target), options).copy();
  }

  @Override
  public void move(Path source, Path target, CopyOption... options) throws IOException {
    new Transfer(ExtantPath.of(source), ExtantPath.of(target), options).move();
  }

  @Override
  public boolean isSameFile(Path path, Path other) throws IOException {
    if (path.equals(other)) {
      return true;
    }
    return other instanceof ExtantPath ours
        && operations(path).isSameFile(ExtantPath.of(path), ours);
  }

  /// True if the name begins with a dot.
  @Override
  public boolean isHidden(Path path) {
    ExtantPath name = ExtantPath.of(path).getFileName();
    return name != null && name.toString().startsWith(".");
  }

  @Override
  public FileStore getFileStore(Path path) throws IOException {
    operations(path).checkAccess(ExtantPath.of(path));
    return ExtantPath.of(path).getFileSystem().fileStore();
  }

  @Override
  public void checkAccess(Path path, AccessMode... modes) throws IOException {
    operations(path).checkAccess(ExtantPath.of(path), modes);
  }

  @Override
  public <V extends FileAttributeView> V getFileAttributeView(
      Path path, Class<V> type, LinkOption... options) {
    return AttributeViews.of(type, operations(path), ExtantPath.of(path), Follow.of(options));
  }

  @Override
  public <A extends BasicFileAttributes> A readAttributes(
      Path path, Class<A> type, LinkOption... options) throws IOException {
    if (type != BasicFileAttributes.class && type != PosixFileAttributes.class) {
      throw new UnsupportedOperationException("there are no attributes " + type.getName());
    }
    return type.cast(operations(path).attributes(ExtantPath.of(path), Follow.of(options)));
  }

  @Override
  public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options)
      throws IOException {
    if (AttributeViews.viewOf(attributes).equals("user")) {
      return userView(path, options).read(AttributeViews.namesOf(attributes));
    }
    Map<String, Function<ExtantFileAttributes, Object>> selected =
        AttributeTable.select(attributes);
    ExtantFileAttributes file =
        operations(path).attributes(ExtantPath.of(path), Follow.of(options));
    Map<String, Object> values = new LinkedHashMap<>();
    selected.forEach((name, reader) -> values.put(name, reader.apply(file)));
    return values;
  }

  @Override
  public void setAttribute(Path path, String attribute, Object value, LinkOption... options)
      throws IOException {
    if (AttributeViews.viewOf(attribute).equals("user")) {
      userView(path, options).set(AttributeViews.namesOf(attribute), value);
    } else {
      operations(path)
          .change(ExtantPath.of(path), Follow.of(options), AttributeTable.change(attribute, value));
    }
  }

  private static UserAttributeView userView(Path path, LinkOption... options) {
    return new UserAttributeView(operations(path), ExtantPath.of(path), Follow.of(options));
  }
}
