package dev.extant.nio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;

/// Copies between one of our channels and any other, through a buffer.
final class ChannelTransfer {
  private static final int BUFFER_BYTES = 64 << 10;

  private ChannelTransfer() {}

  /// Stops where the source ends or the target takes no more.
  static long to(ExtantFileChannel source, long offset, long count, WritableByteChannel target)
      throws IOException {
    if (!target.isOpen()) {
      throw new ClosedChannelException();
    }
    if (target instanceof ExtantFileChannel channel) {
      channel.requireWritable();
    }
    ByteBuffer buffer = buffer(count);
    long done = 0;
    while (done < count) {
      buffer.clear().limit((int) Math.min(count - done, buffer.capacity()));
      int read = source.read(buffer, offset + done);
      if (read < 0) {
        break;
      }
      int written = target.write(buffer.flip());
      done += written;
      if (written < read) {
        break;
      }
    }
    return done;
  }

  /// Stops where the source ends or has nothing for now.
  static long from(ReadableByteChannel source, ExtantFileChannel target, long offset, long count)
      throws IOException {
    if (!source.isOpen()) {
      throw new ClosedChannelException();
    }
    if (source instanceof ExtantFileChannel channel) {
      channel.requireReadable();
    }
    ByteBuffer buffer = buffer(count);
    long done = 0;
    while (done < count) {
      buffer.clear().limit((int) Math.min(count - done, buffer.capacity()));
      if (source.read(buffer) <= 0) {
        break;
      }
      buffer.flip();
      while (buffer.hasRemaining()) {
        done += target.write(buffer, offset + done);
      }
    }
    return done;
  }

  private static ByteBuffer buffer(long count) {
    return ByteBuffer.allocate((int) Math.min(count, BUFFER_BYTES));
  }
}
