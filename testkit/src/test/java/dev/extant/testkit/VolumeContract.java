package dev.extant.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.extant.vfs.AttributeChange;
import dev.extant.vfs.Attributes;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.RenameMode;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// What every [Volume] does; a subclass names one. The root may hold `lost+found`.
public abstract class VolumeContract {
  private static final NewFile FILE = new NewFile(0640, 7, 70_000);

  private final List<Node> nodes = new ArrayList<>();
  private Volume volume;
  private Node root;

  /// An empty volume with room for a few MiB.
  protected abstract Volume newVolume() throws IOException;

  @BeforeEach
  void open() throws IOException {
    volume = newVolume();
    root = closedLater(volume.root());
  }

  @AfterEach
  void close() throws FsException {
    nodes.forEach(Node::close);
    volume.close();
    volume.close();
  }

  private Node closedLater(Node node) {
    nodes.add(node);
    return node;
  }

  private static FileName name(String name) {
    return FileName.of(name);
  }

  private Node create(Node directory, String name) throws FsException {
    return closedLater(volume.create(directory, name(name), FILE));
  }

  private Node mkdir(Node directory, String name) throws FsException {
    return closedLater(volume.mkdir(directory, name(name), new NewFile(0755, 0, 0)));
  }

  private Node lookup(Node directory, String name) throws FsException {
    return closedLater(volume.lookup(directory, name(name)));
  }

  private boolean exists(Node directory, String name) throws FsException {
    try (Node node = volume.lookup(directory, name(name))) {
      return node.ino() > 0;
    } catch (FsException e) {
      assertThat(e.errno()).isEqualTo(Errno.ENOENT);
      return false;
    }
  }

  private void rename(Node from, String name, Node to, String newName) throws FsException {
    volume.rename(from, name(name), to, name(newName), RenameMode.REPLACE);
  }

  private static void assertRefused(Errno errno, ThrowingCallable callable) {
    assertThatExceptionOfType(FsException.class)
        .isThrownBy(callable)
        .satisfies(e -> assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno));
  }

  private int nlink(Node node) throws FsException {
    return volume.attributes(node).nlink();
  }

  private Set<String> list(Node directory) throws FsException {
    Set<String> names = new HashSet<>();
    volume.readDirectory(directory, 0, (name, _, _, _) -> names.add(name.toString()));
    names.remove("lost+found");
    return names;
  }

  private void write(Node file, long offset, String text) throws FsException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    assertThat(volume.write(file, offset, MemorySegment.ofArray(bytes))).isEqualTo(bytes.length);
  }

  private String read(Node file, long offset, int length) throws FsException {
    byte[] bytes = new byte[length];
    int count = volume.read(file, offset, MemorySegment.ofArray(bytes));
    return new String(bytes, 0, count, StandardCharsets.UTF_8);
  }

  private long size(Node file) throws FsException {
    return volume.attributes(file).sizeBytes();
  }

  @Test
  void newFilesAreAsAskedFor() throws FsException {
    Attributes file = volume.attributes(create(root, "file"));
    assertThat(file.type()).isEqualTo(FileType.REGULAR);
    assertThat(file.mode()).isEqualTo(0100640);
    assertThat(file.uid()).isEqualTo(7);
    assertThat(file.gid()).isEqualTo(70_000);
    assertThat(file.nlink()).isEqualTo(1);
    assertThat(file.sizeBytes()).isZero();
    Node directory = mkdir(root, "directory");
    assertThat(nlink(directory)).isEqualTo(2);
    byte[] target = "a/target".getBytes(StandardCharsets.UTF_8);
    Node link = closedLater(volume.symlink(root, name("link"), target, FILE));
    assertThat(volume.readlink(link)).isEqualTo(target);
    assertThat(size(link)).isEqualTo(8);
    Node device =
        closedLater(volume.mknod(root, name("dev"), FileType.CHARACTER_DEVICE, 0x103, FILE));
    assertThat(volume.attributes(device).rdev()).isEqualTo(0x103);
    assertThat(list(root)).containsOnly(".", "..", "file", "directory", "link", "dev");
  }

  @Test
  void lookups() throws FsException {
    Node directory = mkdir(root, "directory");
    Node file = create(directory, "file");
    assertThat(lookup(directory, "file").ino()).isEqualTo(file.ino());
    assertThat(lookup(directory, ".").ino()).isEqualTo(directory.ino());
    assertThat(lookup(directory, "..").ino()).isEqualTo(root.ino());
    assertThat(lookup(root, "..").ino()).isEqualTo(root.ino());
    assertRefused(Errno.ENOENT, () -> volume.lookup(root, name("missing")));
    assertRefused(Errno.ENOTDIR, () -> volume.lookup(file, name("x")));
    assertRefused(Errno.ENAMETOOLONG, () -> volume.lookup(root, name("x".repeat(256))));
    assertRefused(Errno.ENAMETOOLONG, () -> create(root, "x".repeat(256)));
    create(root, "x".repeat(255));
  }

  @Test
  void namesThatAreTakenAreNotMadeAgain() throws FsException {
    Node file = create(root, "file");
    for (String taken : List.of("file", ".", "..")) {
      assertRefused(Errno.EEXIST, () -> create(root, taken));
      assertRefused(Errno.EEXIST, () -> mkdir(root, taken));
      assertRefused(Errno.EEXIST, () -> volume.link(file, root, name(taken)));
    }
    assertRefused(Errno.ENOTDIR, () -> create(file, "x"));
  }

  @Test
  void removing() throws FsException {
    create(root, "file");
    Node directory = mkdir(root, "directory");
    create(directory, "x");
    assertRefused(Errno.EISDIR, () -> volume.unlink(root, name("directory")));
    assertRefused(Errno.ENOTDIR, () -> volume.rmdir(root, name("file")));
    assertRefused(Errno.ENOTEMPTY, () -> volume.rmdir(root, name("directory")));
    assertRefused(Errno.ENOENT, () -> volume.unlink(root, name("missing")));
    assertRefused(Errno.ENOENT, () -> volume.rmdir(root, name("missing")));
    assertRefused(Errno.EINVAL, () -> volume.rmdir(directory, name(".")));
    assertRefused(Errno.ENOTEMPTY, () -> volume.rmdir(directory, name("..")));
    volume.unlink(directory, name("x"));
    volume.rmdir(root, name("directory"));
    volume.unlink(root, name("file"));
    assertThat(list(root)).containsOnly(".", "..");
    assertRefused(Errno.ENOENT, () -> create(directory, "in a removed directory"));
  }

  @Test
  void anOpenFileOutlivesItsName() throws FsException {
    Node file = create(root, "file");
    volume.unlink(root, name("file"));
    write(file, 0, "still there");
    assertThat(nlink(file)).isZero();
    assertThat(read(file, 0, 100)).isEqualTo("still there");
    assertRefused(Errno.ENOENT, () -> volume.link(file, root, name("again")));
  }

  @Test
  void links() throws FsException {
    Node file = create(root, "file");
    Node directory = mkdir(root, "directory");
    volume.link(file, directory, name("second"));
    assertThat(nlink(file)).isEqualTo(2);
    assertThat(lookup(directory, "second").ino()).isEqualTo(file.ino());
    assertRefused(Errno.EPERM, () -> volume.link(directory, root, name("x")));
    volume.unlink(root, name("file"));
    assertThat(nlink(file)).isEqualTo(1);
  }

  @Test
  void renaming() throws FsException {
    Node a = mkdir(root, "a");
    Node b = mkdir(root, "b");
    Node file = create(a, "file");
    rename(a, "file", b, "moved");
    assertThat(list(a)).containsOnly(".", "..");
    assertThat(lookup(b, "moved").ino()).isEqualTo(file.ino());
    rename(root, "a", b, "a");
    assertThat(lookup(a, "..").ino()).isEqualTo(b.ino());
    assertThat(nlink(b)).isEqualTo(3);
    assertRefused(Errno.EINVAL, () -> rename(root, "b", a, "x"));
    assertRefused(Errno.ENOTEMPTY, () -> rename(b, "a", root, "b"));
    assertRefused(Errno.ENOENT, () -> rename(root, "missing", root, "x"));
    assertRefused(Errno.EBUSY, () -> rename(root, ".", root, "x"));
    assertRefused(Errno.EBUSY, () -> rename(b, "a", root, ".."));
  }

  @Test
  void renamingOntoWhatIsThere() throws FsException {
    Node one = create(root, "one");
    Node two = create(root, "two");
    Node empty = mkdir(root, "empty");
    Node full = mkdir(root, "full");
    create(full, "x");
    int links = nlink(root);
    assertRefused(Errno.EISDIR, () -> rename(root, "one", root, "empty"));
    assertRefused(Errno.ENOTDIR, () -> rename(root, "empty", root, "one"));
    assertRefused(Errno.ENOTEMPTY, () -> rename(root, "empty", root, "full"));
    rename(root, "full", root, "full");
    rename(root, "one", root, "two");
    assertThat(nlink(two)).isZero();
    assertThat(lookup(root, "two").ino()).isEqualTo(one.ino());
    rename(root, "full", root, "empty");
    assertThat(nlink(empty)).isZero();
    assertThat(nlink(root)).isEqualTo(links - 1);
    volume.link(one, root, name("same"));
    rename(root, "two", root, "same");
    assertThat(list(root)).containsOnly(".", "..", "two", "same", "empty");
  }

  @Test
  void renamingInOtherModes() throws FsException {
    Node file = create(root, "file");
    Node directory = mkdir(root, "directory");
    Node inner = mkdir(directory, "inner");
    int links = nlink(root);
    assertRefused(Errno.EEXIST, () -> move("file", root, "directory", RenameMode.NO_REPLACE));
    assertRefused(Errno.ENOENT, () -> move("file", root, "missing", RenameMode.EXCHANGE));
    assertRefused(Errno.EINVAL, () -> move("directory", directory, "inner", RenameMode.EXCHANGE));
    move("file", directory, "inner", RenameMode.EXCHANGE);
    assertThat(lookup(directory, "inner").ino()).isEqualTo(file.ino());
    assertThat(lookup(root, "file").ino()).isEqualTo(inner.ino());
    assertThat(lookup(inner, "..").ino()).isEqualTo(root.ino());
    assertThat(nlink(directory)).isEqualTo(2);
    assertThat(nlink(root)).isEqualTo(links + 1);
    move("file", root, "renamed", RenameMode.NO_REPLACE);
    assertThat(exists(root, "file")).isFalse();
    assertThat(exists(root, "renamed")).isTrue();
  }

  private void move(String name, Node to, String newName, RenameMode mode) throws FsException {
    volume.rename(root, name(name), to, name(newName), mode);
  }

  @Test
  void contents() throws FsException {
    Node file = create(root, "file");
    write(file, 10_000, "end");
    write(file, 4094, "across");
    assertThat(size(file)).isEqualTo(10_003);
    assertThat(read(file, 4090, 12)).isEqualTo("\0\0\0\0across\0\0");
    assertThat(read(file, 9_999, 100)).isEqualTo("\0end");
    assertThat(read(file, 10_003, 1)).isEmpty();
    assertThat(read(file, 1L << 50, 1)).isEmpty();
    assertThat(volume.append(file, MemorySegment.ofArray(new byte[] {'!'}))).isEqualTo(10_003);
    volume.truncate(file, 4097);
    volume.truncate(file, 8000);
    assertThat(read(file, 4094, 100)).isEqualTo("acr" + "\0".repeat(97));
    assertThat(size(file)).isEqualTo(8000);
    assertRefused(Errno.EISDIR, () -> volume.read(root, 0, MemorySegment.ofArray(new byte[1])));
    assertRefused(Errno.EINVAL, () -> volume.truncate(file, -1));
    assertRefused(Errno.EFBIG, () -> volume.truncate(file, Long.MAX_VALUE));
    assertRefused(Errno.EINVAL, () -> volume.readlink(file));
  }

  @Test
  void holes() throws FsException {
    Node file = create(root, "file");
    write(file, 1 << 20, "data");
    volume.truncate(file, 4 << 20);
    assertThat(volume.seekHole(file, 0)).isZero();
    assertThat(volume.seekData(file, 0)).isEqualTo(1 << 20);
    assertThat(volume.seekData(file, (1 << 20) + 1)).isEqualTo((1 << 20) + 1);
    long hole = volume.seekHole(file, 1 << 20);
    assertThat(hole).isBetween((1L << 20) + 4, (1L << 20) + 65_536);
    assertThat(volume.seekData(file, hole)).isEqualTo(-1);
    assertThat(volume.seekHole(file, (4 << 20) + 1)).isEqualTo(-1);
    assertThat(volume.seekData(file, 4 << 20)).isEqualTo(-1);
    volume.truncate(file, (1 << 20) + 4);
    assertThat(volume.seekHole(file, 1 << 20)).isEqualTo((1 << 20) + 4);
  }

  @Test
  void attributesAreSetOneByOne() throws FsException {
    Node file = create(root, "file");
    Instant time = Instant.parse("2040-01-02T03:04:05.678901234Z");
    Attributes before = volume.attributes(file);
    volume.setAttributes(file, AttributeChange.permissions(07123));
    volume.setAttributes(file, AttributeChange.owner(null, 4_000_000_000L));
    volume.setAttributes(file, AttributeChange.times(null, time, null));
    Attributes after = volume.attributes(file);
    assertThat(after.permissions()).isEqualTo(07123);
    assertThat(after.type()).isEqualTo(FileType.REGULAR);
    assertThat(after.uid()).isEqualTo(7);
    assertThat(after.gid()).isEqualTo(4_000_000_000L);
    assertThat(after.times().modified()).isEqualTo(time);
    assertThat(after.times().accessed()).isEqualTo(before.times().accessed());
    assertThat(after.times().changed()).isAfterOrEqualTo(before.times().changed());
    assertThat(after.times().created()).isEqualTo(before.times().created());
  }

  @Test
  void directoriesAreReadInPieces() throws FsException {
    Set<String> expected = new HashSet<>(Set.of(".", ".."));
    Node directory = mkdir(root, "directory");
    for (int i = 0; i < 700; i++) {
      volume.create(directory, name("name" + i), FILE).close();
      expected.add("name" + i);
    }
    List<String> seen = new ArrayList<>();
    long[] cookie = new long[1];
    int before;
    do {
      before = seen.size();
      volume.readDirectory(
          directory,
          cookie[0],
          (name, ino, type, next) -> {
            assertThat(ino).isPositive();
            assertThat(type).isIn(null, FileType.REGULAR, FileType.DIRECTORY);
            seen.add(name.toString());
            cookie[0] = next;
            return seen.size() % 7 != 0;
          });
    } while (seen.size() > before);
    assertThat(seen).containsExactlyInAnyOrderElementsOf(expected);
    assertRefused(
        Errno.ENOTDIR, () -> volume.readDirectory(create(root, "file"), 0, (_, _, _, _) -> true));
  }

  @Test
  void nodesAreCounted() throws FsException {
    Node one = create(root, "file");
    Node two = one.retain();
    volume.unlink(root, name("file"));
    write(two, 0, "x");
    long used = volume.statistics().freeBlocks();
    two.close();
    assertThat(read(one, 0, 1)).isEqualTo("x");
    assertThat(volume.statistics().freeBlocks()).isLessThanOrEqualTo(used);
  }

  @Test
  void durabilityAndClosing() throws FsException {
    Node file = create(root, "file");
    write(file, 0, "x");
    volume.fsync(file, true).join();
    volume.fsync(root, false).join();
    volume.sync();
    nodes.forEach(Node::close);
    nodes.clear();
    volume.close();
    assertRefused(Errno.EBADF, volume::root);
    assertRefused(Errno.EBADF, volume::sync);
    assertRefused(Errno.EBADF, volume::statistics);
  }
}
