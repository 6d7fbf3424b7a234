package dev.extant.block;

import dev.extant.block.DeviceException.Operation;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// One transfer to the device, made of one or more submitted parts that lie one after another.
///
/// Guarded by the queue's lock until it is dispatched, then owned by the thread that runs it.
final class Request implements Comparable<Request> {
  /// A merged request grows to this size at most, so that one never holds the device for long.
  static final long MAX_MERGED_BYTES = 1 << 20;

  /// One submission and who waits for it.
  record Part(
      long offset,
      List<MemorySegment> segments,
      long lengthBytes,
      CompletableFuture<Void> completion) {

    Part(long offset, List<MemorySegment> segments) {
      this(offset, segments, Transfers.lengthBytes(segments), new CompletableFuture<>());
    }
  }

  private final boolean write;
  private final boolean fua;

  /// In ascending order of offset, each beginning where the one before ends.
  private final List<Part> parts = new ArrayList<>(1);

  private long offset;
  private long lengthBytes;

  /// Orders requests of the same offset; set once, when the request is offered.
  private long sequence = -1;

  Request(boolean write, boolean fua, Part part) {
    this.write = write;
    this.fua = fua;
    this.offset = part.offset();
    this.lengthBytes = part.lengthBytes();
    parts.add(part);
  }

  /// A request that sorts before all others that begin at `offset`; only to search with.
  static Request before(long offset) {
    return new Request(false, false, new Part(offset, List.of()));
  }

  void sequence(long value) {
    sequence = value;
  }

  boolean write() {
    return write;
  }

  Operation operation() {
    return write ? Operation.WRITE : Operation.READ;
  }

  long offset() {
    return offset;
  }

  long endOffset() {
    return offset + lengthBytes;
  }

  List<Part> parts() {
    return parts;
  }

  /// True if `next` begins where this ends and both may go to the device as one transfer.
  boolean canAppend(Request next) {
    return write
        && next.write
        && !fua
        && !next.fua
        && endOffset() == next.offset
        && lengthBytes + next.lengthBytes <= MAX_MERGED_BYTES;
  }

  /// Takes over the parts of `next`, for which [#canAppend] held.
  void append(Request next) {
    parts.addAll(next.parts);
    lengthBytes += next.lengthBytes;
  }

  /// Takes over the parts of `previous`, which lies directly before this.
  void prepend(Request previous) {
    parts.addAll(0, previous.parts);
    offset = previous.offset;
    lengthBytes += previous.lengthBytes;
  }

  /// Runs the transfer on the calling thread.
  void transfer(BlockDevice device) throws DeviceException {
    if (!write) {
      device.read(offset, parts.getFirst().segments().getFirst());
      return;
    }
    List<MemorySegment> sources = parts.getFirst().segments();
    if (parts.size() > 1) {
      sources = new ArrayList<>(parts.size());
      for (Part part : parts) {
        sources.addAll(part.segments());
      }
    }
    device.write(offset, sources, fua);
  }

  /// By offset; of the same offset the one submitted first.
  @Override
  public int compareTo(Request other) {
    int byOffset = Long.compare(offset, other.offset);
    return byOffset != 0 ? byOffset : Long.compare(sequence, other.sequence);
  }

  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }
}
