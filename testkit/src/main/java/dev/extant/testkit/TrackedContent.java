package dev.extant.testkit;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/// What one file may hold after a power cut: the changes that were asked for, one after another,
/// and which of them were acknowledged when. Times are ticks of a [RecordingDevice].
///
/// After a cut every byte is as after some change from the last acknowledged one to the last one
/// begun, not necessarily the same for all bytes; so is the size, or in between. Where the file was
/// being cut off, the rest of that block may be cleared already. If data is not ordered before what
/// points to it (data=writeback), a block of which something was being changed may hold anything.
final class TrackedContent {
  /// A write of `bytes` at an offset, or a new size where `bytes` is null.
  private record Change(long beginTick, int offset, byte[] bytes) {
    byte[] applyTo(byte[] content) {
      if (bytes == null) {
        return Arrays.copyOf(content, offset);
      }
      byte[] changed = Arrays.copyOf(content, Math.max(content.length, offset + bytes.length));
      System.arraycopy(bytes, 0, changed, offset, bytes.length);
      return changed;
    }
  }

  /// The largest of file systems.
  private static final int BLOCK_BYTES = 4096;

  private record Acknowledgement(long tick, int changes) {}

  private final List<Change> changes = new ArrayList<>();
  private final Queue<Acknowledgement> acknowledgements = new ConcurrentLinkedQueue<>();
  private int sizeBytes;

  /// Before it is begun.
  void write(long tick, int offset, byte[] bytes) {
    changes.add(new Change(tick, offset, bytes));
    sizeBytes = Math.max(sizeBytes, offset + bytes.length);
  }

  /// Before it is begun.
  void truncate(long tick, int newSizeBytes) {
    changes.add(new Change(tick, newSizeBytes, null));
    sizeBytes = newSizeBytes;
  }

  int sizeBytes() {
    return sizeBytes;
  }

  int changes() {
    return changes.size();
  }

  /// By any thread: so many changes, the first ones, are durable at the tick.
  void acknowledged(long tick, int count) {
    acknowledgements.add(new Acknowledgement(tick, count));
  }

  /// Says what is wrong, or null.
  String difference(byte[] found, long cutTick, boolean ordered) {
    int first = acknowledgedChanges(cutTick);
    int last = first;
    while (last < changes.size() && changes.get(last).beginTick() < cutTick) {
      last++;
    }
    List<byte[]> allowed = contents(first, last);
    int least = allowed.stream().mapToInt(content -> content.length).min().orElseThrow();
    int most = allowed.stream().mapToInt(content -> content.length).max().orElseThrow();
    if (found.length < least || found.length > most) {
      return "has " + found.length + " bytes instead of " + least + " to " + most;
    }
    for (int i = 0; i < found.length; i++) {
      boolean right = false;
      boolean free = !ordered && touched(changes.subList(first, last), i);
      for (byte[] content : allowed) {
        right |= i < content.length && content[i] == found[i];
      }
      if (!right && !free && !(found[i] == 0 && cutOff(changes.subList(first, last), i))) {
        return "holds " + found[i] + " at " + i + " of " + found.length + describe(first, last);
      }
    }
    return null;
  }

  /// True if one of the changes has to do with the byte's block.
  private static boolean touched(List<Change> changes, int at) {
    int block = at / BLOCK_BYTES;
    for (Change change : changes) {
      int end =
          change.bytes() == null ? Integer.MAX_VALUE : change.offset() + change.bytes().length;
      if (block >= change.offset() / BLOCK_BYTES && block <= (end - 1) / BLOCK_BYTES) {
        return true;
      }
    }
    return false;
  }

  /// True if the rest of a block was being cleared.
  private static boolean cutOff(List<Change> changes, int at) {
    for (Change change : changes) {
      int size = change.offset();
      if (change.bytes() == null && at >= size && at / BLOCK_BYTES == size / BLOCK_BYTES) {
        return true;
      }
    }
    return false;
  }

  private int acknowledgedChanges(long cutTick) {
    int first = 0;
    for (Acknowledgement acknowledgement : acknowledgements) {
      if (acknowledgement.tick() <= cutTick) {
        first = Math.max(first, acknowledgement.changes());
      }
    }
    return first;
  }

  private List<byte[]> contents(int first, int last) {
    List<byte[]> contents = new ArrayList<>();
    byte[] content = new byte[0];
    for (int i = 0; i < last; i++) {
      if (i >= first) {
        contents.add(content);
      }
      content = changes.get(i).applyTo(content);
    }
    contents.add(content);
    return contents;
  }

  private String describe(int first, int last) {
    StringBuilder text = new StringBuilder(", after these changes (the first ");
    text.append(first).append(" acknowledged):");
    for (int i = Math.max(0, first - 8); i < last; i++) {
      Change change = changes.get(i);
      text.append("\n    ").append(i + 1).append(" (tick ").append(change.beginTick()).append(") ");
      text.append(
          change.bytes() == null
              ? "truncate to " + change.offset()
              : "write " + change.bytes().length + " at " + change.offset());
    }
    return text.toString();
  }
}
