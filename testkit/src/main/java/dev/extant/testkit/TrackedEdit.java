package dev.extant.testkit;

import java.util.Arrays;

/// A change of a file's content, and what it makes of one.
sealed interface TrackedEdit {
  /// The new content; the old one stays as it is.
  byte[] applyTo(byte[] content);

  int sizeAfter(int sizeBytes);

  /// The first byte that it has to do with.
  int from();

  /// The end of the bytes that it has to do with.
  int to();

  /// How far it moves what is behind it.
  default int shift() {
    return 0;
  }

  String describe();

  /// `bytes` are written at an offset.
  record Write(int offset, byte[] bytes) implements TrackedEdit {
    @Override
    public byte[] applyTo(byte[] content) {
      byte[] changed = Arrays.copyOf(content, sizeAfter(content.length));
      System.arraycopy(bytes, 0, changed, offset, bytes.length);
      return changed;
    }

    @Override
    public int sizeAfter(int sizeBytes) {
      return Math.max(sizeBytes, to());
    }

    @Override
    public int from() {
      return offset;
    }

    @Override
    public int to() {
      return offset + bytes.length;
    }

    @Override
    public String describe() {
      return "write " + bytes.length + " at " + offset;
    }
  }

  /// The file is cut off there, or grows with zeroes.
  record Resize(int sizeBytes) implements TrackedEdit {
    @Override
    public byte[] applyTo(byte[] content) {
      return Arrays.copyOf(content, sizeBytes);
    }

    @Override
    public int sizeAfter(int oldSizeBytes) {
      return sizeBytes;
    }

    @Override
    public int from() {
      return sizeBytes;
    }

    @Override
    public int to() {
      return Integer.MAX_VALUE;
    }

    @Override
    public String describe() {
      return "truncate to " + sizeBytes;
    }
  }

  /// See [dev.extant.vfs.Volume#allocate]; a range that is taken out or put in suits the size.
  record Range(RandomRange range) implements TrackedEdit {
    @Override
    public byte[] applyTo(byte[] content) {
      byte[] changed = Arrays.copyOf(content, sizeAfter(content.length));
      switch (range.mode()) {
        case ALLOCATE, ALLOCATE_KEEP_SIZE -> {}
        case PUNCH_HOLE, ZERO_RANGE, ZERO_RANGE_KEEP_SIZE ->
            Arrays.fill(
                changed,
                Math.min(from(), changed.length),
                Math.min(end(), changed.length),
                (byte) 0);
        case COLLAPSE_RANGE ->
            System.arraycopy(content, end(), changed, from(), content.length - end());
        case INSERT_RANGE -> {
          System.arraycopy(content, from(), changed, end(), content.length - from());
          Arrays.fill(changed, from(), end(), (byte) 0);
        }
      }
      return changed;
    }

    @Override
    public int sizeAfter(int sizeBytes) {
      return switch (range.mode()) {
        case ALLOCATE, ZERO_RANGE -> Math.max(sizeBytes, end());
        case ALLOCATE_KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE_KEEP_SIZE -> sizeBytes;
        case COLLAPSE_RANGE, INSERT_RANGE -> sizeBytes + shift();
      };
    }

    private int end() {
      return (int) range.end();
    }

    @Override
    public int from() {
      return (int) range.offset();
    }

    @Override
    public int to() {
      return RandomRange.moves(range.mode()) ? Integer.MAX_VALUE : end();
    }

    @Override
    public int shift() {
      int length = (int) range.lengthBytes();
      return switch (range.mode()) {
        case COLLAPSE_RANGE -> -length;
        case INSERT_RANGE -> length;
        default -> 0;
      };
    }

    @Override
    public String describe() {
      return range.toString();
    }
  }
}
