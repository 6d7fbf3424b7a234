package dev.extant.cli;

import dev.extant.vfs.Attributes;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/// Goes through a tree in an image without changing it: in the order of the names, symbolic links
/// not followed, as deep as it may be. What cannot be read is told and the rest goes on. It ends on
/// every image: a directory that was met before, which only a damaged image has, is not entered.
final class TreeWalk {
  /// A file on the way. Its node is the walk's and ends with the call it is given to, or with
  /// `leave` for a directory that was entered. `depth` is 0 at the start; `last` says that no name
  /// follows in the same directory, of those chosen.
  record Entry(
      ShownPath path, FileName name, Node node, Attributes attributes, int depth, boolean last) {
    boolean isDirectory() {
      return attributes.type() == FileType.DIRECTORY;
    }
  }

  /// What is done to each file.
  interface Visitor {
    /// Says whether to go down, which counts for directories only.
    boolean enter(Entry entry) throws IOException;

    /// After all that is in a directory that was entered.
    default void leave(Entry directory) throws IOException {}

    /// Which of the names in a directory that was entered to go on with, in this order.
    default List<FileName> choose(Entry directory, List<FileName> names) throws IOException {
      return names;
    }

    /// Something could not be read.
    void failed(CommandFailure failure) throws IOException;
  }

  private record Level(Entry directory, Iterator<FileName> names) {}

  private final Volume volume;
  private final Visitor visitor;
  private final Set<Long> entered = new HashSet<>();
  private final Deque<Level> levels = new ArrayDeque<>();

  private TreeWalk(Volume volume, Visitor visitor) {
    this.volume = volume;
    this.visitor = visitor;
  }

  /// Walks from the operand on.
  static void of(Operand operand, Visitor visitor) throws IOException {
    List<FileName> names = Names.split(operand.path());
    FileName name = names.isEmpty() ? FileName.of("/") : names.getLast();
    of(operand.volume(), ShownPath.of(operand.text()), name, operand.find(false), visitor);
  }

  /// Walks from a node on, which it gives back.
  static void of(Volume volume, ShownPath path, FileName name, Node node, Visitor visitor)
      throws IOException {
    TreeWalk walk = new TreeWalk(volume, visitor);
    try {
      walk.visit(path, name, node, 0, true);
      while (!walk.levels.isEmpty()) {
        walk.step();
      }
    } finally {
      walk.levels.forEach(level -> level.directory().node().close());
    }
  }

  private void step() throws IOException {
    Level level = levels.element();
    Entry directory = level.directory();
    if (!level.names().hasNext()) {
      levels.pop();
      try (Node _ = directory.node()) {
        visitor.leave(directory);
      }
      return;
    }
    FileName name = level.names().next();
    ShownPath path = directory.path().child(name);
    try {
      Node node = volume.lookup(directory.node(), name);
      visit(path, name, node, directory.depth() + 1, !level.names().hasNext());
    } catch (ClosedOutputException e) {
      throw e;
    } catch (IOException e) {
      visitor.failed(CommandFailure.at(path.toString(), e));
    }
  }

  /// Takes over the node.
  private void visit(ShownPath path, FileName name, Node node, int depth, boolean last)
      throws IOException {
    boolean keep = false;
    try {
      Entry entry = new Entry(path, name, node, volume.attributes(node), depth, last);
      if (visitor.enter(entry) && entry.isDirectory()) {
        levels.push(new Level(entry, names(entry).iterator()));
        keep = true;
      }
    } finally {
      if (!keep) {
        node.close();
      }
    }
  }

  /// What is in a directory; nothing if it cannot be read, so that it is left as it was entered.
  private List<FileName> names(Entry directory) throws IOException {
    try {
      if (!entered.add(directory.attributes().ino())) {
        throw new CommandFailure(
            directory.path() + ": is a directory that has another path too; the image is damaged");
      }
      return visitor.choose(directory, VolumeSource.names(volume, directory.node()));
    } catch (IOException e) {
      visitor.failed(CommandFailure.at(directory.path().toString(), e));
      return List.of();
    }
  }
}
