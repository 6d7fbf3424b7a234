package dev.extant.testkit;

import dev.extant.vfs.FileType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/// What the names of one worker may be after a power cut: the state after every operation on names,
/// and which were acknowledged when. Times are ticks of a [RecordingDevice].
///
/// Operations are atomic and become durable in their order. So after a cut the names are exactly
/// those of one state, from the last acknowledged one to the one of the last operation begun.
final class TrackedNames {
  /// A file, directory or symbolic link.
  static final class Item {
    final FileType type;
    final TrackedContent content = new TrackedContent();

    /// Of a symbolic link.
    final byte[] target;

    /// The operation that last changed a name of it.
    int lastNamed;

    /// The operation that last changed a name in it.
    int lastEntry;

    Item(FileType type, byte[] target) {
      this.type = type;
      this.target = target;
    }
  }

  private record State(long beginTick, String operation, SortedMap<String, Item> names) {}

  private record Acknowledgement(long tick, int state) {}

  private final List<State> states = new ArrayList<>();
  private final Queue<Acknowledgement> acknowledgements = new ConcurrentLinkedQueue<>();

  TrackedNames() {
    states.add(new State(-1, "nothing", new TreeMap<>()));
  }

  /// Before the operation is begun. Returns its number.
  int changed(long tick, String operation, SortedMap<String, Item> names) {
    states.add(new State(tick, operation, names));
    return states.size() - 1;
  }

  /// The names as they are now; to be copied, not changed.
  SortedMap<String, Item> names() {
    return states.getLast().names();
  }

  int lastState() {
    return states.size() - 1;
  }

  /// By any thread: the operation and all before it are durable at the tick.
  void acknowledged(long tick, int state) {
    acknowledgements.add(new Acknowledgement(tick, state));
  }

  /// Says what is wrong with what was found of the worker's names, or null. For `allowance` see
  /// [TrackedContent].
  String difference(
      SortedMap<String, TreeSnapshot.Entry> found,
      long cutTick,
      TrackedContent.Allowance allowance) {
    int first = 0;
    for (Acknowledgement acknowledgement : acknowledgements) {
      if (acknowledgement.tick() <= cutTick) {
        first = Math.max(first, acknowledgement.state());
      }
    }
    int last = 0;
    while (last + 1 < states.size() && states.get(last + 1).beginTick() < cutTick) {
      last++;
    }
    String closest = null;
    String anyNames = null;
    for (int i = last; i >= first; i--) {
      String names = differenceOfNames(states.get(i).names(), found);
      String difference =
          names == null
              ? differenceOfContents(states.get(i).names(), found, cutTick, allowance)
              : names;
      if (difference == null) {
        return null;
      }
      if (names == null) {
        closest = difference + " (names are those after operation " + i + ")";
      }
      anyNames = difference;
    }
    String range = "operation " + first + " was acknowledged, " + last + " begun";
    return (closest == null ? anyNames : closest) + "; " + range + describe(first, last);
  }

  private String describe(int first, int last) {
    StringBuilder text = new StringBuilder();
    for (int i = Math.max(0, first - 3); i <= Math.min(last, first + 20); i++) {
      State state = states.get(i);
      text.append("\n  ").append(i).append(" (tick ").append(state.beginTick()).append(") ");
      text.append(state.operation());
    }
    return text.toString();
  }

  private static String differenceOfNames(
      SortedMap<String, Item> names, SortedMap<String, TreeSnapshot.Entry> found) {
    if (!names.keySet().equals(found.keySet())) {
      List<String> missing = new ArrayList<>(names.keySet());
      missing.removeAll(found.keySet());
      List<String> extra = new ArrayList<>(found.keySet());
      extra.removeAll(names.keySet());
      return "names missing: " + missing + ", not expected: " + extra;
    }
    Map<Item, Long> inos = new HashMap<>();
    Map<Long, Item> items = new HashMap<>();
    for (Map.Entry<String, Item> name : names.entrySet()) {
      TreeSnapshot.Entry entry = found.get(name.getKey());
      Item item = name.getValue();
      Long ino = inos.putIfAbsent(item, entry.ino());
      Item other = items.putIfAbsent(entry.ino(), item);
      if (item.type != entry.type()
          || ino != null && ino != entry.ino()
          || other != null && other != item) {
        return name.getKey() + " is another file than expected: " + entry.type();
      }
    }
    return null;
  }

  private static String differenceOfContents(
      SortedMap<String, Item> names,
      SortedMap<String, TreeSnapshot.Entry> found,
      long cutTick,
      TrackedContent.Allowance allowance) {
    for (Map.Entry<String, Item> name : names.entrySet()) {
      TreeSnapshot.Entry entry = found.get(name.getKey());
      Item item = name.getValue();
      long links = names.values().stream().filter(other -> other == item).count();
      String difference =
          switch (item.type) {
            case REGULAR ->
                entry.nlink() == links
                    ? item.content.difference(entry.content(), cutTick, allowance)
                    : "has " + entry.nlink() + " links instead of " + links;
            case SYMLINK ->
                Arrays.equals(item.target, entry.content()) ? null : "has another target";
            default -> null;
          };
      if (difference != null) {
        return name.getKey() + " " + difference;
      }
    }
    return null;
  }
}
