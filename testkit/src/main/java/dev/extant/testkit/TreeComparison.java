package dev.extant.testkit;

import dev.extant.vfs.Attributes;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileTimes;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import dev.extant.vfs.XattrName;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/// Compares a volume with a model of it: names, types, modes, owners, link counts, sizes, times,
/// extended attributes, contents and targets of symbolic links; and that names share an inode in
/// one exactly where they do in the other.
///
/// Where the volume keeps no time of creation its times are in seconds. Sizes of directories are
/// not compared. Whoever compares access times mounts with `noatime`.
public final class TreeComparison {
  private static final int CHUNK_BYTES = 64 << 10;

  /// What a directory says about a name.
  private record Entry(long ino, FileType type) {}

  private final Volume model;
  private final Volume real;
  private final Map<Long, Long> realByModel = new HashMap<>();
  private final Map<Long, Long> modelByReal = new HashMap<>();
  private final MemorySegment expected = MemorySegment.ofArray(new byte[CHUNK_BYTES]);
  private final MemorySegment found = MemorySegment.ofArray(new byte[CHUNK_BYTES]);

  private TreeComparison(Volume model, Volume real) {
    this.model = model;
    this.real = real;
  }

  /// @throws AssertionError naming the first difference and its path
  public static void compare(Volume model, Volume real) throws FsException {
    TreeComparison comparison = new TreeComparison(model, real);
    try (Node modelRoot = model.root();
        Node realRoot = real.root()) {
      comparison.compareNodes("/", modelRoot, realRoot);
    }
  }

  private void compareNodes(String path, Node modelNode, Node realNode) throws FsException {
    compareIdentity(path, modelNode.ino(), realNode.ino());
    compareAttributes(path, model.attributes(modelNode), real.attributes(realNode));
    compareXattrs(path, model, modelNode, real, realNode);
    switch (modelNode.type()) {
      case REGULAR -> compareContents(path, modelNode, realNode);
      case SYMLINK ->
          require(
              path + ": target",
              Arrays.equals(model.readlink(modelNode), real.readlink(realNode)),
              new String(model.readlink(modelNode)),
              new String(real.readlink(realNode)));
      case DIRECTORY -> compareDirectories(path, modelNode, realNode);
      default -> {}
    }
  }

  private void compareIdentity(String path, long modelIno, long realIno) {
    Long knownReal = realByModel.putIfAbsent(modelIno, realIno);
    Long knownModel = modelByReal.putIfAbsent(realIno, modelIno);
    require(
        path + ": inode",
        (knownReal == null || knownReal == realIno)
            && (knownModel == null || knownModel == modelIno),
        knownReal,
        realIno + ", which is also " + knownModel + " of the model, here " + modelIno);
  }

  static void compareAttributes(String path, Attributes model, Attributes real) {
    requireEqual(path + ": type", model.type(), real.type());
    requireEqual(
        path + ": mode", Integer.toOctalString(model.mode()), Integer.toOctalString(real.mode()));
    requireEqual(path + ": uid", model.uid(), real.uid());
    requireEqual(path + ": gid", model.gid(), real.gid());
    requireEqual(path + ": links", model.nlink(), real.nlink());
    requireEqual(path + ": rdev", model.rdev(), real.rdev());
    if (model.type() != FileType.DIRECTORY) {
      requireEqual(path + ": size", model.sizeBytes(), real.sizeBytes());
    }
    FileTimes expected = model.times();
    FileTimes found = real.times();
    boolean seconds = found.created() == null;
    compareTimes(path + ": modified", expected.modified(), found.modified(), seconds);
    compareTimes(path + ": changed", expected.changed(), found.changed(), seconds);
    compareTimes(path + ": accessed", expected.accessed(), found.accessed(), seconds);
    if (!seconds) {
      requireEqual(path + ": created", expected.created(), found.created());
    }
  }

  static void compareXattrs(String path, Volume model, Node modelNode, Volume real, Node realNode)
      throws FsException {
    List<XattrName> names = model.xattrs(modelNode).stream().sorted().toList();
    List<XattrName> found = real.xattrs(realNode).stream().sorted().toList();
    requireEqual(path + ": extended attributes", names, found);
    for (XattrName name : names) {
      requireEqual(
          path + ": " + name,
          HexFormat.of().formatHex(model.xattr(modelNode, name)),
          HexFormat.of().formatHex(real.xattr(realNode, name)));
    }
  }

  private static void compareTimes(String what, Instant model, Instant real, boolean seconds) {
    requireEqual(what, seconds ? model.truncatedTo(ChronoUnit.SECONDS) : model, real);
  }

  /// Reads what either has as data; that the rest reads as zeroes follows from there being no data.
  private void compareContents(String path, Node modelNode, Node realNode) throws FsException {
    long size = model.attributes(modelNode).sizeBytes();
    long at = 0;
    while (at < size) {
      long modelData = model.seekData(modelNode, at);
      long realData = real.seekData(realNode, at);
      if (modelData < 0 && realData < 0) {
        return;
      }
      require(path + ": seekData(" + at + ")", realData < 0 || realData >= at, "≥ " + at, realData);
      at = Math.min(modelData < 0 ? size : modelData, realData < 0 ? size : realData);
      compareRange(path, modelNode, realNode, at, CHUNK_BYTES);
      at += CHUNK_BYTES;
    }
  }

  private void compareRange(String path, Node modelNode, Node realNode, long offset, int count)
      throws FsException {
    int expectedCount = model.read(modelNode, offset, expected.asSlice(0, count));
    int foundCount = real.read(realNode, offset, found.asSlice(0, count));
    requireEqual(path + ": bytes read at " + offset, expectedCount, foundCount);
    requireSameBytes(
        path, offset, expected.asSlice(0, expectedCount), found.asSlice(0, expectedCount));
  }

  static void requireSameBytes(
      String path, long offset, MemorySegment expected, MemorySegment found) {
    long mismatch = expected.mismatch(found);
    if (mismatch >= 0) {
      throw new AssertionError(
          path
              + ": byte at "
              + (offset + mismatch)
              + ": expected "
              + expected.get(java.lang.foreign.ValueLayout.JAVA_BYTE, mismatch)
              + ", found "
              + found.get(java.lang.foreign.ValueLayout.JAVA_BYTE, mismatch));
    }
  }

  private void compareDirectories(String path, Node modelNode, Node realNode) throws FsException {
    Map<FileName, Entry> modelEntries = entries(path, model, modelNode);
    Map<FileName, Entry> realEntries = entries(path, real, realNode);
    requireEqual(path + ": names", modelEntries.keySet(), realEntries.keySet());
    boolean typed = realEntries.values().stream().anyMatch(entry -> entry.type() != null);
    for (Map.Entry<FileName, Entry> entry : modelEntries.entrySet()) {
      FileName name = entry.getKey();
      String child = path + name + "/";
      Entry realEntry = realEntries.get(name);
      if (typed) {
        requireEqual(child + ": type in directory", entry.getValue().type(), realEntry.type());
      }
      try (Node modelChild = model.lookup(modelNode, name);
          Node realChild = real.lookup(realNode, name)) {
        requireEqual(child + ": inode in directory", realEntry.ino(), realChild.ino());
        if (name.isDot() || name.isDotDot()) {
          compareIdentity(child, modelChild.ino(), realChild.ino());
        } else {
          compareNodes(child, modelChild, realChild);
        }
      }
    }
  }

  private static Map<FileName, Entry> entries(String path, Volume volume, Node directory)
      throws FsException {
    Map<FileName, Entry> entries = new TreeMap<>();
    volume.readDirectory(
        directory,
        0,
        (name, ino, type, cookie) -> {
          require(path + name, entries.put(name, new Entry(ino, type)) == null, "once", "twice");
          return true;
        });
    return entries;
  }

  static void requireEqual(String what, Object expected, Object found) {
    require(what, Objects.equals(expected, found), expected, found);
  }

  private static void require(String what, boolean condition, Object expected, Object found) {
    if (!condition) {
      throw new AssertionError(what + ": expected " + expected + ", found " + found);
    }
  }
}
