package dev.extant.nio;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.SPARSE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Channels with several buffers, other channels, and memory.
interface NioTransferContract extends NioFixture {
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
  default void transfers() throws IOException {
    byte[] content = new byte[200_000];
    new Random(1).nextBytes(content);
    Files.write(path("file"), content);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (FileChannel from = FileChannel.open(path("file"));
        FileChannel to = FileChannel.open(path("copy"), READ, WRITE, CREATE)) {
      assertThat(from.transferTo(0, Long.MAX_VALUE, to)).isEqualTo(content.length);
      assertThat(from.transferTo(300_000, 5, to)).isZero();
      assertThat(from.position()).isZero();
      assertThat(from.transferTo(199_990, 100, Channels.newChannel(out))).isEqualTo(10);
      ByteArrayInputStream in = new ByteArrayInputStream(content, 0, 100);
      assertThat(to.transferFrom(Channels.newChannel(in), 200_000, 60)).isEqualTo(60);
      assertThat(to.transferFrom(Channels.newChannel(in), 200_060, 1000)).isEqualTo(40);
      assertThat(to.size()).isEqualTo(200_100);
      assertThatIllegalArgumentException().isThrownBy(() -> from.transferTo(-1, 1, to));
      assertThatIllegalArgumentException().isThrownBy(() -> from.transferTo(0, -1, to));
      assertThatExceptionOfType(NonWritableChannelException.class)
          .isThrownBy(() -> from.transferFrom(to, 0, 1));
    }
    byte[] copy = Files.readAllBytes(path("copy"));
    assertThat(copy).startsWith(content).hasSize(200_100);
    assertThat(out.toByteArray())
        .isEqualTo(java.util.Arrays.copyOfRange(content, 199_990, 200_000));
  }

  @Test
  default void transfersWithClosedAndOtherChannels() throws IOException {
    file("abcdef");
    FileChannel closed = FileChannel.open(path("file"), READ, WRITE);
    closed.close();
    try (FileChannel channel = FileChannel.open(path("file"), READ, WRITE);
        FileChannel reader = FileChannel.open(path("file"), READ)) {
      assertThatExceptionOfType(ClosedChannelException.class)
          .isThrownBy(() -> channel.transferTo(0, 1, closed));
      assertThatExceptionOfType(ClosedChannelException.class)
          .isThrownBy(() -> channel.transferFrom(closed, 0, 1));
      assertThatExceptionOfType(NonWritableChannelException.class)
          .isThrownBy(() -> channel.transferTo(0, 1, reader));
      assertThat(channel.transferTo(0, 0, channel)).isZero();
      channel.position(6);
      assertThat(reader.transferTo(0, 3, channel)).isEqualTo(3);
      assertThat(channel.position()).isEqualTo(9);
      reader.position(1);
      assertThat(channel.transferFrom(reader, 9, 2)).isEqualTo(2);
      assertThat(reader.position()).isEqualTo(3);
    }
    assertThat(path("file")).hasContent("abcdefabcbc");
  }

  @Test
  default void gatherAndScatter() throws IOException {
    try (FileChannel channel = FileChannel.open(path("file"), READ, WRITE, CREATE, SPARSE)) {
      ByteBuffer[] sources = {bytes("xx"), bytes("abc"), bytes(""), bytes("defg"), bytes("yy")};
      assertThat(channel.write(sources, 1, 3)).isEqualTo(7);
      assertThat(sources[0].position()).isZero();
      assertThat(sources[3].remaining()).isZero();
      channel.position(0);
      ByteBuffer[] targets = {ByteBuffer.allocate(2), ByteBuffer.allocate(9)};
      assertThat(channel.read(targets)).isEqualTo(7);
      assertThat(text(targets[0])).isEqualTo("ab");
      assertThat(text(targets[1])).isEqualTo("cdefg");
      assertThat(channel.read(new ByteBuffer[] {ByteBuffer.allocate(1)})).isEqualTo(-1);
      assertThatExceptionOfType(IndexOutOfBoundsException.class)
          .isThrownBy(() -> channel.write(sources, 3, 3));
    }
  }

  @Test
  default void scatteringAcrossTheEnd() throws IOException {
    file("abcde");
    try (FileChannel channel = FileChannel.open(path("file"), READ)) {
      ByteBuffer[] targets = {
        ByteBuffer.allocate(2),
        ByteBuffer.allocateDirect(0),
        ByteBuffer.allocateDirect(2),
        ByteBuffer.allocate(4),
        ByteBuffer.allocate(1)
      };
      assertThat(channel.read(targets, 0, 5)).isEqualTo(5);
      assertThat(targets[3].position()).isEqualTo(1);
      assertThat(targets[4].position()).isZero();
      assertThat(channel.read(targets, 3, 2)).isEqualTo(-1);
      assertThat(channel.read(targets, 0, 0)).isZero();
      assertThatExceptionOfType(IndexOutOfBoundsException.class)
          .isThrownBy(() -> channel.read(targets, 1, 5));
      assertThatIllegalArgumentException()
          .isThrownBy(
              () -> channel.read(new ByteBuffer[] {ByteBuffer.allocate(1).asReadOnlyBuffer()}));
    }
  }

  @Test
  default void mapping() throws IOException {
    file("abcdef");
    try (FileChannel channel = FileChannel.open(path("file"), READ, WRITE);
        Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = channel.map(MapMode.READ_ONLY, 1, 3, arena);
      assertThat(bytes.toArray(ValueLayout.JAVA_BYTE)).containsExactly('b', 'c', 'd');
      assertThat(bytes.isReadOnly()).isTrue();
      channel.map(MapMode.PRIVATE, 0, 6, arena).fill((byte) 0);
      assertThat(channel.map(MapMode.READ_ONLY, 2, 0, arena).byteSize()).isZero();
      if (differs(Difference.MAPPING)) {
        assertThatExceptionOfType(UnsupportedOperationException.class)
            .isThrownBy(() -> channel.map(MapMode.READ_ONLY, 0, 6));
        assertThatExceptionOfType(UnsupportedOperationException.class)
            .isThrownBy(() -> channel.map(MapMode.READ_WRITE, 0, 6, arena));
      } else {
        assertThat(channel.map(MapMode.READ_ONLY, 0, 6).get(5)).isEqualTo((byte) 'f');
      }
      assertThatIllegalArgumentException()
          .isThrownBy(() -> channel.map(MapMode.READ_ONLY, -1, 6, arena));
      assertThatIllegalArgumentException()
          .isThrownBy(() -> channel.map(MapMode.READ_ONLY, 0, -1, arena));
    }
    try (FileChannel writer = FileChannel.open(path("file"), WRITE);
        Arena arena = Arena.ofConfined()) {
      assertThatExceptionOfType(NonReadableChannelException.class)
          .isThrownBy(() -> writer.map(MapMode.READ_ONLY, 0, 1, arena));
    }
    assertThat(path("file")).hasContent("abcdef");
  }
}
