package dev.extant.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;

/// What one file may hold after a power cut: the changes that were asked for, one after another,
/// and which of them were acknowledged when. Times are ticks of a [RecordingDevice].
///
/// After a cut every byte is as after some change from the last acknowledged one to the last one
/// begun, not necessarily the same for all bytes; so is the size, or in between. Where the file was
/// being cut off, the rest of that block may be cleared already. If data is not ordered before what
/// points to it (data=writeback), a block of which something was being changed may hold anything.
///
/// Where a range was being taken out or put in, what is behind it may be at the old place, at the
/// new one, or partly here and there with a hole between; and what was written to it afterwards may
/// be at the old place, since a block that moves within the file is the same block on the disk.
final class TrackedContent {
  private record Change(long beginTick, TrackedEdit edit) {}

  /// What a file system leaves open.
  ///
  /// @param ordered data is on the device before what points to it is
  /// @param unitBytes files are made of that much at least: blocks or, since one that is freed may
  ///   be used again in the same place, clusters
  record Allowance(boolean ordered, int unitBytes) {}

  private record Acknowledgement(long tick, int changes) {}

  private final List<Change> changes = new ArrayList<>();
  private final Queue<Acknowledgement> acknowledgements = new ConcurrentLinkedQueue<>();
  private int sizeBytes;

  /// Before it is begun.
  void write(long tick, int offset, byte[] bytes) {
    add(tick, new TrackedEdit.Write(offset, bytes));
  }

  /// Before it is begun.
  void truncate(long tick, int newSizeBytes) {
    add(tick, new TrackedEdit.Resize(newSizeBytes));
  }

  /// Before it is begun.
  void allocate(long tick, RandomRange range) {
    add(tick, new TrackedEdit.Range(range));
  }

  private void add(long tick, TrackedEdit edit) {
    changes.add(new Change(tick, edit));
    sizeBytes = edit.sizeAfter(sizeBytes);
  }

  /// The last change, before which the size was that, was refused and did not happen.
  void refused(int oldSizeBytes) {
    changes.removeLast();
    sizeBytes = oldSizeBytes;
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
  String difference(byte[] found, long cutTick, Allowance allowance) {
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
    List<Change> open = changes.subList(first, last);
    int unit = allowance.unitBytes();
    int movedFrom = movedFrom(open);
    Set<Integer> shifts = shifts(open);
    for (int i = 0; i < found.length; i++) {
      boolean moved = i >= movedFrom;
      boolean right = holds(allowed, i, found[i], moved ? shifts : Set.of(0));
      boolean cleared = found[i] == 0 && (moved || cutOff(open, i, unit));
      boolean free = cleared || !allowance.ordered() && touched(open, i / unit, unit);
      if (!right && !free) {
        return "holds " + found[i] + " at " + i + " of " + found.length + describe(first, last);
      }
    }
    return null;
  }

  private static boolean holds(List<byte[]> contents, int at, byte value, Set<Integer> shifts) {
    for (byte[] content : contents) {
      for (int shift : shifts) {
        int from = at + shift;
        if (from >= 0 && from < content.length && content[from] == value) {
          return true;
        }
      }
    }
    return false;
  }

  /// The first byte that may have moved.
  private static int movedFrom(List<Change> changes) {
    return changes.stream()
        .filter(change -> change.edit().shift() != 0)
        .mapToInt(change -> change.edit().from())
        .min()
        .orElse(Integer.MAX_VALUE);
  }

  /// How far bytes may be from where they belong: all that changes in a row move them, and 0.
  private static Set<Integer> shifts(List<Change> changes) {
    Set<Integer> shifts = new TreeSet<>(Set.of(0));
    for (int i = 0; i < changes.size(); i++) {
      int sum = 0;
      for (int j = i; j < changes.size(); j++) {
        sum += changes.get(j).edit().shift();
        shifts.add(sum);
        shifts.add(-sum);
      }
    }
    return shifts;
  }

  /// True if one of the changes has to do with the block.
  private static boolean touched(List<Change> changes, int block, int unit) {
    for (Change change : changes) {
      TrackedEdit edit = change.edit();
      if (block >= edit.from() / unit && block <= (edit.to() - 1) / unit) {
        return true;
      }
    }
    return false;
  }

  /// True if the rest of a block was being cleared.
  private static boolean cutOff(List<Change> changes, int at, int unit) {
    for (Change change : changes) {
      if (change.edit() instanceof TrackedEdit.Resize(int size)
          && at >= size
          && at / unit == size / unit) {
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
      content = changes.get(i).edit().applyTo(content);
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
      text.append(change.edit().describe());
    }
    return text.toString();
  }
}
