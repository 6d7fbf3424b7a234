package dev.extant.nio;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.DELETE_ON_CLOSE;
import static java.nio.file.StandardOpenOption.DSYNC;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.SPARSE;
import static java.nio.file.StandardOpenOption.SYNC;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.CopyOption;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Opening files; channels.
interface NioChannelContract extends NioFixture {
  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String text(ByteBuffer buffer) {
    return StandardCharsets.UTF_8.decode(buffer.flip()).toString();
  }

  private Path file(String content) throws IOException {
    return Files.writeString(path("file"), content);
  }

  @Test
  default void openingTheMissingFails() {
    for (OpenOption option : List.of(READ, WRITE, APPEND, TRUNCATE_EXISTING)) {
      assertThatExceptionOfType(NoSuchFileException.class)
          .isThrownBy(() -> FileChannel.open(path("missing"), option))
          .withMessageContaining("missing");
    }
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> FileChannel.open(path("missing"), READ, CREATE, CREATE_NEW));
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> FileChannel.open(path("missing/file"), WRITE, CREATE));
  }

  @Test
  default void createMakesAFileOnlyWhenItIsMissing() throws IOException {
    FileChannel.open(path("new"), WRITE, CREATE).close();
    assertThat(path("new")).isEmptyFile();
    try (FileChannel channel = FileChannel.open(file("abc"), WRITE, CREATE)) {
      channel.write(bytes("X"));
    }
    assertThat(path("file")).hasContent("Xbc");
  }

  @Test
  default void createNewRefusesWhatIsThere() throws IOException {
    file("abc");
    Files.createDirectory(path("directory"));
    Files.createSymbolicLink(path("dangling"), directory().getFileSystem().getPath("nowhere"));
    for (String name : List.of("file", "directory", "dangling")) {
      assertThatExceptionOfType(FileAlreadyExistsException.class)
          .isThrownBy(() -> FileChannel.open(path(name), WRITE, CREATE_NEW));
    }
    assertThat(path("file")).hasContent("abc");
  }

  @Test
  default void createFollowsADanglingLink() throws IOException {
    Files.createSymbolicLink(path("link"), directory().getFileSystem().getPath("made"));
    FileChannel.open(path("link"), WRITE, CREATE).close();
    assertThat(path("made")).isEmptyFile();
    assertThat(Files.isSymbolicLink(path("link"))).isTrue();
  }

  @Test
  default void noFollowRefusesLinks() throws IOException {
    file("abc");
    Files.createSymbolicLink(path("link"), directory().getFileSystem().getPath("file"));
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> FileChannel.open(path("link"), READ, LinkOption.NOFOLLOW_LINKS));
    FileChannel.open(path("file"), READ, LinkOption.NOFOLLOW_LINKS).close();
  }

  @Test
  default void contradictoryOptionsAreRefused() throws IOException {
    file("abc");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FileChannel.open(path("file"), READ, APPEND));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FileChannel.open(path("file"), APPEND, TRUNCATE_EXISTING));
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> FileChannel.open(path("file"), Set.of(READ, new OpenOption() {})));
  }

  @Test
  default void aDirectoryCanBeForcedButNotWritten() throws IOException {
    Files.createDirectory(path("directory"));
    try (FileChannel channel = FileChannel.open(path("directory"), READ)) {
      channel.force(true);
      assertThatExceptionOfType(IOException.class)
          .isThrownBy(() -> channel.read(ByteBuffer.allocate(1)));
    }
    assertThatExceptionOfType(java.nio.file.FileSystemException.class)
        .isThrownBy(() -> FileChannel.open(path("directory"), WRITE));
    assertThatExceptionOfType(java.nio.file.FileSystemException.class)
        .isThrownBy(() -> FileChannel.open(path("directory"), WRITE, CREATE));
  }

  @Test
  default void truncateExistingCountsForWritersOnly() throws IOException {
    file("abc");
    FileChannel.open(path("file"), READ, TRUNCATE_EXISTING).close();
    assertThat(path("file")).hasContent("abc");
    FileChannel.open(path("file"), WRITE, TRUNCATE_EXISTING).close();
    assertThat(path("file")).isEmptyFile();
  }

  @Test
  default void deleteOnCloseLeavesNothing() throws IOException {
    try (FileChannel channel =
        FileChannel.open(path("file"), READ, WRITE, CREATE_NEW, DELETE_ON_CLOSE)) {
      channel.write(bytes("abc"));
      ByteBuffer buffer = ByteBuffer.allocate(3);
      channel.read(buffer, 0);
      assertThat(text(buffer)).isEqualTo("abc");
    }
    assertThat(path("file")).doesNotExist();
  }

  @Test
  default void modesAreKept() throws IOException {
    file("abc");
    try (FileChannel reader = FileChannel.open(path("file"));
        FileChannel writer = FileChannel.open(path("file"), WRITE)) {
      assertThatExceptionOfType(NonWritableChannelException.class)
          .isThrownBy(() -> reader.write(bytes("x")));
      assertThatExceptionOfType(NonWritableChannelException.class)
          .isThrownBy(() -> reader.write(bytes("x"), 0));
      assertThatExceptionOfType(NonWritableChannelException.class)
          .isThrownBy(() -> reader.truncate(0));
      assertThatExceptionOfType(NonReadableChannelException.class)
          .isThrownBy(() -> writer.read(ByteBuffer.allocate(1)));
      assertThatExceptionOfType(NonReadableChannelException.class)
          .isThrownBy(() -> writer.read(ByteBuffer.allocate(1), 0));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  default void readingAndWritingMoveThePosition(boolean direct) throws IOException {
    ByteBuffer buffer = direct ? ByteBuffer.allocateDirect(10) : ByteBuffer.allocate(10);
    try (FileChannel channel = FileChannel.open(path("file"), READ, WRITE, CREATE)) {
      buffer.put(bytes("0123456789")).flip().position(2).limit(7);
      assertThat(channel.write(buffer)).isEqualTo(5);
      assertThat(buffer.position()).isEqualTo(7);
      assertThat(channel.position()).isEqualTo(5);
      channel.position(1);
      buffer.clear().limit(3);
      assertThat(channel.read(buffer)).isEqualTo(3);
      assertThat(channel.position()).isEqualTo(4);
      assertThat(text(buffer)).isEqualTo("345");
      buffer.clear();
      assertThat(channel.read(buffer)).isEqualTo(1);
      assertThat(channel.read(buffer)).isEqualTo(-1);
      assertThat(channel.read(ByteBuffer.allocate(0))).isZero();
      assertThat(channel.size()).isEqualTo(5);
    }
  }

  @Test
  default void readOnlyBuffersCanBeWrittenButNotReadInto() throws IOException {
    try (FileChannel channel = FileChannel.open(path("file"), READ, WRITE, CREATE)) {
      assertThat(channel.write(bytes("abc").asReadOnlyBuffer())).isEqualTo(3);
      ByteBuffer readOnly = ByteBuffer.allocate(1).asReadOnlyBuffer();
      assertThatIllegalArgumentException().isThrownBy(() -> channel.read(readOnly));
      assertThatIllegalArgumentException().isThrownBy(() -> channel.read(readOnly, 0));
    }
  }

  @Test
  default void positionalOperationsLeaveThePosition() throws IOException {
    file("abcdef");
    try (FileChannel channel = FileChannel.open(path("file"), READ, WRITE)) {
      channel.position(3);
      assertThat(channel.write(bytes("X"), 1)).isEqualTo(1);
      ByteBuffer buffer = ByteBuffer.allocate(3);
      assertThat(channel.read(buffer, 0)).isEqualTo(3);
      assertThat(text(buffer)).isEqualTo("aXc");
      assertThat(channel.read(ByteBuffer.allocate(1), 6)).isEqualTo(-1);
      assertThat(channel.read(ByteBuffer.allocate(1), 600)).isEqualTo(-1);
      assertThat(channel.position()).isEqualTo(3);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> channel.read(ByteBuffer.allocate(1), -1));
      assertThatIllegalArgumentException().isThrownBy(() -> channel.write(bytes("x"), -1));
      assertThatIllegalArgumentException().isThrownBy(() -> channel.position(-1));
    }
  }

  @Test
  default void appendWritesAtTheEnd() throws IOException {
    file("abc");
    try (FileChannel one = FileChannel.open(path("file"), APPEND);
        FileChannel two = FileChannel.open(path("file"), WRITE, APPEND)) {
      assertThat(one.position()).isEqualTo(3);
      one.write(bytes("d"));
      two.write(new ByteBuffer[] {bytes("e"), bytes("f")});
      one.position(0);
      one.write(bytes("g"));
      assertThat(one.position()).isEqualTo(7);
      assertThat(one.size()).isEqualTo(7);
    }
    assertThat(path("file")).hasContent("abcdefg");
  }

  @Test
  default void writingBehindTheEndLeavesZeroes() throws IOException {
    try (FileChannel channel = FileChannel.open(path("file"), WRITE, CREATE, SPARSE)) {
      channel.position(10_000);
      assertThat(channel.size()).isZero();
      channel.write(bytes("x"));
    }
    byte[] expected = new byte[10_001];
    expected[10_000] = 'x';
    assertThat(path("file")).hasBinaryContent(expected);
  }

  @Test
  default void truncateCutsAndMovesThePosition() throws IOException {
    file("abcdef");
    try (FileChannel channel = FileChannel.open(path("file"), READ, WRITE)) {
      channel.position(5);
      channel.truncate(10);
      assertThat(channel.size()).isEqualTo(6);
      assertThat(channel.position()).isEqualTo(5);
      channel.truncate(2);
      assertThat(channel.size()).isEqualTo(2);
      assertThat(channel.position()).isEqualTo(2);
      channel.position(9);
      channel.truncate(2);
      assertThat(channel.position()).isEqualTo(2);
      assertThatIllegalArgumentException().isThrownBy(() -> channel.truncate(-1));
    }
    assertThat(path("file")).hasContent("ab");
  }

  @ParameterizedTest
  @ValueSource(strings = {"SYNC", "DSYNC"})
  default void synchronousWritesAndForce(String option) throws IOException {
    OpenOption sync = option.equals("SYNC") ? SYNC : DSYNC;
    try (FileChannel channel = FileChannel.open(path("file"), WRITE, CREATE, sync)) {
      channel.write(bytes("abc"));
      channel.write(bytes("d"), 3);
      channel.truncate(3);
      channel.force(true);
      channel.force(false);
    }
    assertThat(path("file")).hasContent("abc");
  }

  @Test
  default void aClosedChannelSaysSo() throws IOException {
    file("abc");
    FileChannel channel = FileChannel.open(path("file"), READ, WRITE);
    channel.close();
    channel.close();
    assertThat(channel.isOpen()).isFalse();
    List<org.assertj.core.api.ThrowableAssert.ThrowingCallable> uses =
        List.of(
            () -> channel.read(ByteBuffer.allocate(1)),
            () -> channel.read(ByteBuffer.allocate(1), 0),
            () -> channel.write(bytes("x")),
            () -> channel.write(bytes("x"), 0),
            () -> channel.position(),
            () -> channel.position(0),
            () -> channel.size(),
            () -> channel.truncate(0),
            () -> channel.force(true),
            () -> channel.tryLock());
    for (var use : uses) {
      assertThatExceptionOfType(ClosedChannelException.class).isThrownBy(use);
    }
  }

  @Test
  default void anUnlinkedFileLivesWhileItIsOpen() throws IOException {
    file("abc");
    try (SeekableByteChannel channel = Files.newByteChannel(path("file"), READ, WRITE)) {
      Files.delete(path("file"));
      Files.writeString(path("file"), "other");
      ByteBuffer buffer = ByteBuffer.allocate(10);
      channel.read(buffer);
      assertThat(text(buffer)).isEqualTo("abc");
      channel.write(bytes("def"));
      assertThat(channel.size()).isEqualTo(6);
    }
    assertThat(path("file")).hasContent("other");
  }

  @Test
  default void anInterruptClosesThisChannelOnly() throws IOException {
    file("abc");
    try (FileChannel one = FileChannel.open(path("file"), READ, WRITE);
        FileChannel two = FileChannel.open(path("file"), READ, WRITE)) {
      Thread.currentThread().interrupt();
      assertThatExceptionOfType(ClosedByInterruptException.class)
          .isThrownBy(() -> one.read(ByteBuffer.allocate(1)));
      assertThat(Thread.interrupted()).isTrue();
      assertThat(one.isOpen()).isFalse();
      assertThat(two.read(ByteBuffer.allocate(3))).isEqualTo(3);
      two.force(true);
    }
  }

  @Test
  default void locksOfOneJvmDoNotOverlap() throws IOException {
    file("abc");
    FileChannel two = FileChannel.open(path("file"), READ, WRITE);
    try (FileChannel one = FileChannel.open(path("file"), READ, WRITE);
        FileChannel reader = FileChannel.open(path("file"), READ)) {
      FileLock lock = one.lock(0, 10, false);
      assertThat(lock.isValid()).isTrue();
      assertThat(lock.isShared()).isFalse();
      assertThatExceptionOfType(OverlappingFileLockException.class)
          .isThrownBy(() -> two.tryLock(9, 1, true));
      assertThatExceptionOfType(OverlappingFileLockException.class)
          .isThrownBy(() -> two.lock(0, Long.MAX_VALUE, false));
      FileLock behind = two.tryLock(10, 5, true);
      assertThat(behind.isValid()).isTrue();
      lock.release();
      assertThat(lock.isValid()).isFalse();
      two.lock(0, 10, false);
      two.close();
      assertThat(behind.isValid()).isFalse();
      assertThat(one.tryLock().isValid()).isTrue();
      assertThatExceptionOfType(NonWritableChannelException.class)
          .isThrownBy(() -> reader.tryLock());
    }
  }

  @Test
  default void streamsAndWholeFiles() throws IOException {
    Files.write(path("file"), List.of("one", "two"));
    Files.writeString(path("file"), "three\n", APPEND);
    assertThat(Files.readAllLines(path("file"))).containsExactly("one", "two", "three");
    try (var out = Files.newOutputStream(path("file"))) {
      out.write(new byte[100_000]);
      out.write('x');
    }
    try (var in = Files.newInputStream(path("file"))) {
      assertThat(in.skip(100_000)).isEqualTo(100_000);
      assertThat(in.read()).isEqualTo('x');
      assertThat(in.read()).isEqualTo(-1);
    }
  }

  @Test
  default void optionsOfTheJdkAlone() throws Exception {
    file("abc");
    // Named at run time, since the compiler warns of them.
    Object[] open = Class.forName("com.sun.nio.file.ExtendedOpenOption").getEnumConstants();
    Object[] copy = Class.forName("com.sun.nio.file.ExtendedCopyOption").getEnumConstants();
    CopyOption interruptible = (CopyOption) copy[0];
    if (differs(Difference.JDK_OPTIONS)) {
      for (Object option : open) {
        assertThatExceptionOfType(UnsupportedOperationException.class)
            .isThrownBy(() -> FileChannel.open(path("file"), READ, (OpenOption) option));
      }
      assertThatExceptionOfType(UnsupportedOperationException.class)
          .isThrownBy(() -> Files.copy(path("file"), path("copy"), interruptible));
    } else {
      Files.copy(path("file"), path("copy"), interruptible);
    }
  }

  @Test
  default void appendingWithPositions() throws IOException {
    file("abc");
    try (FileChannel channel = FileChannel.open(path("file"), APPEND)) {
      assertThat(channel.write(bytes("de"), 0)).isEqualTo(2);
      assertThat(channel.size()).isEqualTo(5);
      channel.truncate(4);
      channel.write(bytes("X"));
      assertThat(channel.position()).isEqualTo(5);
    }
    assertThat(path("file")).hasContent("abcdX");
  }

  @Test
  default void farPositions() throws IOException {
    try (FileChannel channel = FileChannel.open(path("file"), READ, WRITE, CREATE)) {
      channel.position(1L << 42);
      assertThat(channel.position()).isEqualTo(1L << 42);
      assertThat(channel.read(ByteBuffer.allocate(0))).isZero();
      channel.position(1L << 33);
      assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
      assertThatExceptionOfType(IOException.class)
          .isThrownBy(() -> channel.write(bytes("x"), Long.MAX_VALUE - 1));
      assertThat(channel.size()).isZero();
      channel.write(bytes("x"));
      assertThat(channel.size()).isEqualTo((1L << 33) + 1);
      channel.truncate(1);
      assertThat(channel.position()).isEqualTo(1);
      ByteBuffer buffer = ByteBuffer.allocate(2);
      assertThat(channel.read(buffer, 0)).isEqualTo(1);
      assertThat(buffer.get(0)).isZero();
    }
  }
}
