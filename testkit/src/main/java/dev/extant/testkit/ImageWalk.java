package dev.extant.testkit;

import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import dev.extant.vfs.XattrName;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Walks a volume that may be damaged and reads everything within limits: attributes, extended
/// attributes, targets of links, names and contents. What is refused with an [FsException] is
/// remembered and passed over; anything else that is thrown reaches the caller.
///
/// A directory that is met twice, e.g. in itself, is entered once.
public final class ImageWalk {
  /// How many names are looked up and how many bytes are read at most.
  public record Limits(int names, long bytes) {}

  private static final int CHUNK_BYTES = 64 << 10;

  private final Volume volume;
  private final Limits limits;
  private final MemorySegment buffer = MemorySegment.ofArray(new byte[CHUNK_BYTES]);
  private final Set<Long> entered = new HashSet<>();
  private final ArrayDeque<Node> waiting = new ArrayDeque<>();
  private final List<FsException> refusals = new ArrayList<>();
  private int names;
  private long bytes;

  private ImageWalk(Volume volume, Limits limits) {
    this.volume = volume;
    this.limits = limits;
  }

  /// Walks the whole tree; returns what was met.
  public static ImageWalk of(Volume volume, Limits limits) {
    ImageWalk walk = new ImageWalk(volume, limits);
    walk.run();
    return walk;
  }

  public int names() {
    return names;
  }

  public long bytes() {
    return bytes;
  }

  public List<FsException> refusals() {
    return refusals;
  }

  private interface Step {
    void run() throws FsException;
  }

  private void attempt(Step step) {
    try {
      step.run();
    } catch (FsException e) {
      refusals.add(e);
    }
  }

  private void run() {
    attempt(() -> volume.statistics());
    attempt(() -> waiting.add(volume.root()));
    while (!waiting.isEmpty()) {
      try (Node node = waiting.remove()) {
        look(node);
      }
    }
  }

  private void look(Node node) {
    attempt(() -> volume.attributes(node));
    attempt(
        () -> {
          for (XattrName name : volume.xattrs(node)) {
            attempt(() -> bytes += volume.xattr(node, name).length);
          }
        });
    switch (node.type()) {
      case DIRECTORY -> enter(node);
      case REGULAR -> attempt(() -> read(node));
      case SYMLINK -> attempt(() -> bytes += volume.readlink(node).length);
      default -> {}
    }
  }

  private void enter(Node directory) {
    if (!entered.add(directory.ino())) {
      return;
    }
    List<FileName> found = new ArrayList<>();
    attempt(
        () ->
            volume.readDirectory(
                directory,
                0,
                (name, _, _, _) -> {
                  names++;
                  found.add(name);
                  return names < limits.names;
                }));
    for (FileName name : found) {
      attempt(() -> waiting.add(volume.lookup(directory, name)));
    }
  }

  /// Reads data where it is, and the last bytes.
  private void read(Node file) throws FsException {
    long size = volume.attributes(file).sizeBytes();
    volume.read(file, Math.max(0, size - 100), buffer);
    long at = volume.seekData(file, 0);
    while (at >= 0 && at < size && bytes < limits.bytes) {
      int count = volume.read(file, at, buffer);
      bytes += count;
      at = count == 0 ? -1 : volume.seekData(file, at + count);
    }
    volume.seekHole(file, 0);
  }
}
