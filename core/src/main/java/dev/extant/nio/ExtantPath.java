package dev.extant.nio;

import dev.extant.vfs.FileName;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/// A path: names made of bytes, with or without a root. Relative paths start at `/`, since a file
/// system here has no other working directory.
///
/// Bytes that are no UTF-8 show in [#toString()] as lone low surrogates (U+DC80 to U+DCFF), from
/// which [java.nio.file.FileSystem#getPath] makes the same bytes again.
final class ExtantPath implements Path {
  private static final FileName EMPTY = FileName.of("");

  private final ExtantFileSystem fileSystem;
  private final boolean absolute;

  /// Empty for the root only; the empty path has one empty name.
  private final List<FileName> names;

  private final byte[] bytes;

  ExtantPath(ExtantFileSystem fileSystem, boolean absolute, List<FileName> names) {
    this.fileSystem = fileSystem;
    this.absolute = absolute;
    this.names = names.isEmpty() && !absolute ? List.of(EMPTY) : List.copyOf(names);
    this.bytes = Names.join(absolute, names);
  }

  static ExtantPath parse(ExtantFileSystem fileSystem, byte[] path) {
    return new ExtantPath(fileSystem, path.length > 0 && path[0] == '/', Names.split(path));
  }

  /// The path as this provider's.
  static ExtantPath of(Path path) {
    if (Objects.requireNonNull(path) instanceof ExtantPath ours) {
      return ours;
    }
    throw new ProviderMismatchException("not a path of an extant file system: " + path);
  }

  List<FileName> names() {
    return isEmpty() ? List.of() : names;
  }

  byte[] bytes() {
    return bytes.clone();
  }

  ExtantPath resolve(FileName name) {
    List<FileName> longer = new ArrayList<>(names());
    longer.add(name);
    return new ExtantPath(fileSystem, absolute, longer);
  }

  private boolean isEmpty() {
    return bytes.length == 0;
  }

  @Override
  public ExtantFileSystem getFileSystem() {
    return fileSystem;
  }

  @Override
  public boolean isAbsolute() {
    return absolute;
  }

  @Override
  public ExtantPath getRoot() {
    return absolute ? fileSystem.rootPath() : null;
  }

  @Override
  public ExtantPath getFileName() {
    return names.isEmpty() ? null : getName(names.size() - 1);
  }

  @Override
  public ExtantPath getParent() {
    int count = names.size();
    if (count > 1) {
      return new ExtantPath(fileSystem, absolute, names.subList(0, count - 1));
    }
    return count == 1 ? getRoot() : null;
  }

  @Override
  public int getNameCount() {
    return names.size();
  }

  @Override
  public ExtantPath getName(int index) {
    if (index < 0 || index >= names.size()) {
      throw new IllegalArgumentException("no name " + index + " in " + this);
    }
    return subpath(index, index + 1);
  }

  @Override
  public ExtantPath subpath(int begin, int end) {
    if (begin < 0 || begin >= end || end > names.size()) {
      throw new IllegalArgumentException("no names " + begin + " to " + end + " in " + this);
    }
    return isEmpty() ? this : new ExtantPath(fileSystem, false, names.subList(begin, end));
  }

  @Override
  public boolean startsWith(Path other) {
    return Objects.requireNonNull(other) instanceof ExtantPath path
        && comparable(path)
        && path.absolute == absolute
        && path.names.size() <= names.size()
        && names.subList(0, path.names.size()).equals(path.names);
  }

  @Override
  public boolean endsWith(Path other) {
    if (!(Objects.requireNonNull(other) instanceof ExtantPath path) || !comparable(path)) {
      return false;
    }
    int skipped = names.size() - path.names.size();
    if (path.absolute) {
      return equals(path);
    }
    return skipped >= 0 && names.subList(skipped, names.size()).equals(path.names);
  }

  private boolean comparable(ExtantPath other) {
    return fileSystem == other.fileSystem && isEmpty() == other.isEmpty();
  }

  /// Names before a `..` are left out with it, whatever they are in the file system.
  @Override
  public ExtantPath normalize() {
    List<FileName> kept = new ArrayList<>();
    for (FileName name : names()) {
      boolean last = !kept.isEmpty() && !kept.getLast().isDotDot();
      if (name.isDotDot() && last) {
        kept.removeLast();
      } else if (!name.isDot() && !(name.isDotDot() && absolute)) {
        kept.add(name);
      }
    }
    return new ExtantPath(fileSystem, absolute, kept);
  }

  @Override
  public ExtantPath resolve(Path other) {
    ExtantPath path = of(other);
    if (path.absolute || isEmpty()) {
      return path;
    }
    List<FileName> longer = new ArrayList<>(names);
    longer.addAll(path.names());
    return new ExtantPath(fileSystem, absolute, longer);
  }

  @Override
  public ExtantPath relativize(Path other) {
    ExtantPath path = of(other);
    if (path.equals(this)) {
      return new ExtantPath(fileSystem, false, List.of());
    }
    if (path.absolute != absolute) {
      throw new IllegalArgumentException("only one path is absolute: " + this + ", " + path);
    }
    if (isEmpty()) {
      return path;
    }
    List<FileName> from = withoutDots();
    List<FileName> to = path.withoutDots();
    int common = 0;
    while (common < Math.min(from.size(), to.size()) && from.get(common).equals(to.get(common))) {
      common++;
    }
    List<FileName> up = from.subList(common, from.size());
    if (up.stream().anyMatch(FileName::isDotDot)) {
      throw new IllegalArgumentException(
          "what .. is in " + this + " is not known, so there is no way from there to " + path);
    }
    List<FileName> result = new ArrayList<>(Collections.nCopies(up.size(), FileName.of("..")));
    result.addAll(to.subList(common, to.size()));
    return new ExtantPath(fileSystem, false, result);
  }

  private List<FileName> withoutDots() {
    boolean dots = names().stream().anyMatch(name -> name.isDot() || name.isDotDot());
    return dots ? normalize().names() : names();
  }

  @Override
  public URI toUri() {
    return ImageUri.of(fileSystem.key(), toAbsolutePath().bytes);
  }

  @Override
  public ExtantPath toAbsolutePath() {
    return absolute ? this : new ExtantPath(fileSystem, true, names());
  }

  @Override
  public ExtantPath toRealPath(LinkOption... options) throws IOException {
    return fileSystem.operations().realPath(this, Follow.of(options));
  }

  /// @throws UnsupportedOperationException always: a [File] is of the default file system
  @Override
  public File toFile() {
    throw new UnsupportedOperationException("a path inside an image is no java.io.File: " + this);
  }

  /// @throws UnsupportedOperationException always: there is no watch service yet
  @Override
  public WatchKey register(
      WatchService watcher, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers) {
    throw new UnsupportedOperationException("extant file systems have no watch service");
  }

  /// Bytes compare as unsigned values.
  ///
  /// @throws ClassCastException if the other path is of another provider
  @Override
  public int compareTo(Path other) {
    return Arrays.compareUnsigned(bytes, ((ExtantPath) other).bytes);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ExtantPath path
        && fileSystem == path.fileSystem
        && Arrays.equals(bytes, path.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return NameCodec.decode(bytes);
  }
}
