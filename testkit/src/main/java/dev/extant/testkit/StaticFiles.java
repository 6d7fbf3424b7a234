package dev.extant.testkit;

import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.TreeMap;

/// Files that are there before the workload of a [PowerCutSweep] and that it never touches: in its
/// directories, and with their inodes and blocks between its own.
final class StaticFiles {
  private static final int FILES_PER_DIRECTORY = 3;

  /// Enough for the directory to have an index.
  private static final int FILES_IN_SHARED = 70;

  private static final NewFile NEW_FILE = new NewFile(0644, 0, 0);

  private final Volume volume;
  private final SplittableRandom random;

  private StaticFiles(Volume volume, long seed) {
    this.volume = volume;
    this.random = new SplittableRandom(seed);
  }

  /// Makes the directories of so many workers too. Returns everything that is there.
  static TreeSnapshot make(Volume volume, int workers, long seed) throws FsException {
    StaticFiles files = new StaticFiles(volume, seed);
    try (Node root = volume.root()) {
      files.fill(root, FILES_PER_DIRECTORY);
      files.directory(root, "shared", FILES_IN_SHARED);
      for (int i = 0; i < workers; i++) {
        files.directory(root, CrashWorker.home(i), FILES_PER_DIRECTORY);
      }
    }
    volume.sync();
    return TreeSnapshot.of(volume);
  }

  private void directory(Node parent, String name, int files) throws FsException {
    try (Node directory = volume.mkdir(parent, FileName.of(name), new NewFile(0755, 0, 0))) {
      fill(directory, files);
    }
  }

  private void fill(Node directory, int files) throws FsException {
    for (int i = 0; i < files; i++) {
      byte[] content = new byte[random.nextInt(i % 10 == 0 ? 20_000 : 2_000)];
      random.nextBytes(content);
      FileName name = FileName.of("static-" + i + "-" + "x".repeat(60));
      try (Node file = volume.create(directory, name, NEW_FILE)) {
        volume.write(file, 0, MemorySegment.ofArray(content));
      }
    }
  }

  /// Says what is wrong with the static files among what was found, or null; takes them out of it.
  static String takeOut(TreeSnapshot files, TreeMap<String, TreeSnapshot.Entry> found) {
    for (var expected : files.entries().entrySet()) {
      String path = expected.getKey();
      TreeSnapshot.Entry before = expected.getValue();
      TreeSnapshot.Entry entry = found.remove(path);
      if (entry == null) {
        return path + ", which nobody touched, is missing";
      }
      boolean sameLinks = before.type() == FileType.DIRECTORY || before.nlink() == entry.nlink();
      if (before.type() != entry.type()
          || before.ino() != entry.ino()
          || !sameLinks
          || !Arrays.equals(before.content(), entry.content())) {
        return path + ", which nobody touched, changed";
      }
    }
    return null;
  }
}
