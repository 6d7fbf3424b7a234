package dev.extant.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// The same workload on the kernel's own ext4: `fs_mark` on a loop mount of an image file. Needs
/// root on Linux and the programs mke2fs and fs_mark.
public final class KernelFsMark {
  /// fs_mark refuses more; beyond it several run side by side.
  private static final int MOST_THREADS = 64;

  private static final long TIMEOUT_SECONDS = 600;

  /// Shorter paths only are taken by fs_mark.
  private static final int PATH_LIMIT = 40;

  private final Path folder;
  private final String imageSize;

  /// The image and the mount point are made in `folder`.
  public KernelFsMark(Path folder, String imageSize) {
    this.folder = folder;
    this.imageSize = imageSize;
  }

  /// Files per second, as fs_mark reports them.
  public double run(FsMark.Load load) throws IOException {
    Path image = folder.resolve("kernel.img");
    Path mountPoint = Files.createDirectories(folder.resolve("mnt"));
    Files.deleteIfExists(image);
    command(List.of("mke2fs", "-q", "-F", "-t", "ext4", image.toString(), imageSize));
    command(List.of("mount", "-o", "loop", image.toString(), mountPoint.toString()));
    try {
      return runFsMark(mountPoint, load);
    } finally {
      command(List.of("umount", mountPoint.toString()));
      Files.delete(image);
      Files.delete(mountPoint);
    }
  }

  private double runFsMark(Path mountPoint, FsMark.Load load) throws IOException {
    int processes = (load.threads() + MOST_THREADS - 1) / MOST_THREADS;
    List<Process> running = new ArrayList<>();
    List<Path> outputs = new ArrayList<>();
    for (int i = 0; i < processes; i++) {
      Path directory = Files.createDirectory(mountPoint.resolve("r" + i));
      if (directory.toString().length() >= PATH_LIMIT) {
        throw new IOException("fs_mark takes no path as long as " + directory);
      }
      Path output = Files.createTempFile(folder, "fs_mark", ".out");
      outputs.add(output);
      ProcessBuilder builder =
          new ProcessBuilder(
              "fs_mark",
              "-d",
              directory.toString(),
              "-s",
              Integer.toString(load.sizeBytes()),
              "-n",
              Integer.toString(load.filesPerThread()),
              "-D",
              "64",
              "-L",
              "1",
              "-t",
              Integer.toString(load.threads() / processes));
      // fs_mark leaves a log in its working directory.
      builder.directory(mountPoint.toFile());
      running.add(builder.redirectErrorStream(true).redirectOutput(output.toFile()).start());
    }
    double sum = 0;
    for (int i = 0; i < processes; i++) {
      await(running.get(i), "fs_mark", outputs.get(i));
      sum += filesPerSecond(Files.readString(outputs.get(i)));
      Files.delete(outputs.get(i));
    }
    return sum;
  }

  /// The fourth column of the line after the head of the table (FSUse%, Count, Size, Files/sec).
  static double filesPerSecond(String output) throws IOException {
    boolean head = false;
    for (String line : output.lines().toList()) {
      if (head && !line.isBlank()) {
        return Double.parseDouble(line.strip().split("\\s+")[3]);
      }
      head |= line.contains("Files/sec");
    }
    throw new IOException("fs_mark printed no figures: " + output.strip());
  }

  private void command(List<String> command) throws IOException {
    Path output = Files.createTempFile(folder, "command", ".out");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      await(process, command.getFirst(), output);
    } finally {
      Files.delete(output);
    }
  }

  private static void await(Process process, String name, Path output) throws IOException {
    try {
      if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IOException(name + " did not end within " + TIMEOUT_SECONDS + " s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while running " + name, e);
    }
    if (process.exitValue() != 0) {
      throw new IOException(name + " failed: " + Files.readString(output).strip());
    }
  }
}
