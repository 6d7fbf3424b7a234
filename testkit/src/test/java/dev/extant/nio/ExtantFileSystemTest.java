package dev.extant.nio;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.extant.testkit.MemoryVolume;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.ClosedFileSystemException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What is ours alone: closing, names that are no UTF-8, full and read-only volumes, many threads.
class ExtantFileSystemTest {
  private static final int CAPACITY_BYTES = 32 << 20;

  private final MemoryVolume volume = new MemoryVolume(MountOptions.defaults(), CAPACITY_BYTES);
  private final ExtantFileSystem fileSystem = ExtantFileSystem.over(volume);

  private Path path(String path) {
    return fileSystem.getPath(path);
  }

  @AfterEach
  void closeAndCountReferences() throws IOException {
    fileSystem.close();
    assertThat(volume.openReferences()).isZero();
  }

  @Test
  void closingClosesWhatIsOpen() throws IOException {
    FileChannel channel = FileChannel.open(path("/file"), READ, WRITE, CREATE);
    DirectoryStream<Path> stream = Files.newDirectoryStream(path("/"));
    fileSystem.close();
    fileSystem.close();
    assertThat(fileSystem.isOpen()).isFalse();
    assertThat(channel.isOpen()).isFalse();
    assertThatExceptionOfType(ClosedChannelException.class)
        .isThrownBy(() -> channel.write(ByteBuffer.allocate(1)));
    assertThatExceptionOfType(IllegalStateException.class).isThrownBy(stream::iterator);
    assertThatExceptionOfType(ClosedFileSystemException.class)
        .isThrownBy(() -> Files.createFile(path("/x")));
    assertThatExceptionOfType(ClosedFileSystemException.class)
        .isThrownBy(() -> ExtantFiles.fsync(path("/file")));
    assertThatExceptionOfType(FsException.class)
        .isThrownBy(volume::root)
        .matches(e -> e.errno() == Errno.EBADF);
    channel.close();
    stream.close();
  }

  @Test
  @Timeout(10)
  void closingUnderLoadBreaksNothing() throws Exception {
    List<Future<Object>> users = new ArrayList<>();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 50; i++) {
        Path file = path("/file" + i);
        users.add(executor.submit(() -> useUntilClosed(file)));
      }
      Thread.sleep(50);
      fileSystem.close();
    }
    for (Future<Object> user : users) {
      user.get();
    }
  }

  private Object useUntilClosed(Path file) throws IOException {
    while (true) {
      try (FileChannel channel = FileChannel.open(file, READ, WRITE, CREATE)) {
        channel.write(ByteBuffer.wrap(new byte[] {1}));
        channel.force(true);
      } catch (ClosedChannelException | ClosedFileSystemException e) {
        return null;
      }
    }
  }

  @Test
  void namesThatAreNoUtf8() throws IOException {
    byte[] name = {'a', (byte) 0xff, (byte) 0xc3, 'b'};
    try (Node root = volume.root()) {
      volume.create(root, FileName.of(name), new NewFile(0644, 0, 0)).close();
    }
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(path("/"))) {
      Path entry = stream.iterator().next();
      assertThat(entry.toString()).isEqualTo("/a\uDCFF\uDCC3b");
      assertThat(path(entry.toString())).isEqualTo(entry).exists();
      assertThat(Path.of(entry.toUri())).isEqualTo(entry);
      assertThat(entry.toUri().toString()).endsWith("!/a%FF%C3b");
      assertThat(fileSystem.getPathMatcher("glob:/a??b").matches(entry)).isTrue();
      Files.move(entry, entry.resolveSibling("plain"));
    }
    assertThat(path("/plain")).exists();
  }

  @Test
  void aLinkThatEndsWithASlashNamesADirectory() throws IOException {
    Files.createFile(path("/file"));
    Files.createDirectory(path("/directory"));
    try (Node root = volume.root()) {
      symlink(root, "toFile", "file/");
      symlink(root, "toDirectory", "directory//");
      symlink(root, "toRoot", "/");
    }
    assertThat(path("/toDirectory")).isDirectory();
    assertThat(Files.exists(path("/toRoot/directory"))).isTrue();
    assertThat(path("/toRoot").toRealPath()).isEqualTo(path("/"));
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> Files.size(path("/toFile")))
        .withMessageContaining("not a directory");
  }

  private void symlink(Node root, String name, String target) throws FsException {
    byte[] bytes = target.getBytes(StandardCharsets.UTF_8);
    volume.symlink(root, FileName.of(name), bytes, new NewFile(0777, 0, 0)).close();
  }

  @Test
  void specialFilesAreSeenAndCopiedButNotOpened() throws IOException {
    try (Node root = volume.root()) {
      NewFile file = new NewFile(0600, 0, 0);
      volume.mknod(root, FileName.of("dev"), FileType.BLOCK_DEVICE, 0x801, file).close();
    }
    Files.copy(path("/dev"), path("/copy"));
    assertThat(Files.getAttribute(path("/copy"), "unix:rdev")).isEqualTo(0x801L);
    assertThat(Files.getAttribute(path("/copy"), "isOther")).isEqualTo(true);
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> FileChannel.open(path("/dev"), READ))
        .withMessageContaining("not supported");
  }

  @Test
  void aFullVolumeSaysSo() throws IOException {
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> Files.write(path("/big"), new byte[CAPACITY_BYTES + 1]))
        .withMessageContaining("/big")
        .withMessageContaining("no space left on device");
    assertThat(Files.size(path("/big"))).isEqualTo(CAPACITY_BYTES);
    assertThat(Files.getFileStore(path("/")).getUsableSpace()).isZero();
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> Files.copy(path("/big"), path("/copy")))
        .withMessageContaining("no space left on device");
    assertThat(path("/copy")).doesNotExist();
    Files.delete(path("/big"));
    assertThat(Files.getFileStore(path("/")).getUsableSpace()).isEqualTo(CAPACITY_BYTES);
  }

  @Test
  void copiesKeepHoles() throws IOException {
    try (FileChannel channel = FileChannel.open(path("/sparse"), WRITE, CREATE)) {
      channel.write(ByteBuffer.wrap(new byte[] {1}), 1L << 40);
      channel.write(ByteBuffer.wrap(new byte[] {2}), 1L << 30);
    }
    Files.copy(path("/sparse"), path("/copy"));
    assertThat(Files.size(path("/copy"))).isEqualTo((1L << 40) + 1);
    assertThat(Files.getFileStore(path("/")).getUnallocatedSpace())
        .isEqualTo(CAPACITY_BYTES - 4 * 4096);
    try (FileChannel channel = FileChannel.open(path("/copy"))) {
      ByteBuffer buffer = ByteBuffer.allocate(1);
      channel.read(buffer, 1L << 30);
      assertThat(buffer.get(0)).isEqualTo((byte) 2);
    }
  }

  @Test
  void aReadOnlyVolumeIsNotChanged() throws IOException {
    MemoryVolume readOnly =
        new MemoryVolume(MountOptions.parse("ro"), MemoryVolume.DEFAULT_CAPACITY_BYTES);
    try (ExtantFileSystem other = ExtantFileSystem.over(readOnly)) {
      Path root = other.getPath("/");
      assertThat(other.isReadOnly()).isTrue();
      assertThat(Files.getFileStore(root).isReadOnly()).isTrue();
      assertThat(Files.isWritable(root)).isFalse();
      assertThat(Files.isReadable(root)).isTrue();
      List<org.assertj.core.api.ThrowableAssert.ThrowingCallable> changes =
          List.of(
              () -> Files.createFile(root.resolve("file")),
              () -> Files.createDirectory(root.resolve("file")),
              () -> Files.createSymbolicLink(root.resolve("file"), root),
              () -> Files.setAttribute(root, "unix:mode", 0700));
      for (var change : changes) {
        assertThatExceptionOfType(ReadOnlyFileSystemException.class).isThrownBy(change);
      }
    }
  }

  @Test
  void mappingCopies() throws IOException {
    Files.writeString(path("/file"), "abcdef");
    try (FileChannel channel = FileChannel.open(path("/file"), READ, WRITE);
        Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = channel.map(MapMode.READ_ONLY, 1, 3, arena);
      assertThat(bytes.toArray(ValueLayout.JAVA_BYTE)).containsExactly('b', 'c', 'd');
      assertThat(bytes.isReadOnly()).isTrue();
      channel.map(MapMode.PRIVATE, 0, 6, arena).fill((byte) 0);
      assertThatExceptionOfType(UnsupportedOperationException.class)
          .isThrownBy(() -> channel.map(MapMode.READ_WRITE, 0, 6, arena));
      assertThatExceptionOfType(UnsupportedOperationException.class)
          .isThrownBy(() -> channel.map(MapMode.READ_ONLY, 0, 6));
      assertThatExceptionOfType(IOException.class)
          .isThrownBy(() -> channel.map(MapMode.READ_ONLY, 1, 6, arena));
    }
    assertThat(path("/file")).hasContent("abcdef");
  }

  @Test
  void typeAndEnvironmentOverAVolume() throws IOException {
    try (ExtantFileSystem other =
        ExtantFileSystem.over(new MemoryVolume(), "toy", Map.of("umask", 0))) {
      Path file = Files.createFile(other.getPath("/file"));
      assertThat((int) Files.getAttribute(file, "unix:mode") & 07777).isEqualTo(0666);
      assertThat(Files.getFileStore(file).type()).isEqualTo("toy");
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ExtantFileSystem.over(new MemoryVolume(), "toy", Map.of("ro", true)))
        .withMessageContaining("ro");
  }

  @Test
  @Timeout(20)
  void thousandsOfVirtualThreads() throws Exception {
    List<Future<Object>> users = new ArrayList<>();
    Files.createDirectory(path("/shared"));
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 4000; i++) {
        users.add(executor.submit(user(i)));
      }
    }
    for (Future<Object> user : users) {
      user.get();
    }
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(path("/shared"))) {
      assertThat(stream).hasSize(2000);
    }
    assertThat(Files.size(path("/log"))).isEqualTo(4000 * 5);
  }

  /// Makes a file, replaces that of a neighbour, and appends to a common one.
  private Callable<Object> user(int number) {
    return () -> {
      String line = String.format("%04d\n", number);
      Path own = Files.writeString(path("/own" + number), line);
      Files.move(own, path("/shared/" + number / 2), StandardCopyOption.ATOMIC_MOVE);
      Files.writeString(path("/log"), line, CREATE, java.nio.file.StandardOpenOption.APPEND);
      return null;
    };
  }
}
