package dev.extant.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// An image mounted by the kernel through a loop device. Needs root; see [Oracles#requireRoot()].
public final class KernelMount implements AutoCloseable {
  private final Path root;
  private final String loop;

  private KernelMount(Path root, String loop) {
    this.root = root;
    this.loop = loop;
  }

  /// Mounts the image on a new directory beside it; `options` as after `mount -o`.
  public static KernelMount of(Path image, String options) throws IOException {
    Path root = Files.createTempDirectory(image.getParent(), "mount");
    String loop = attach(image, options);
    Oracles.Result result = Oracles.run("mount", "-t", "ext4", "-o", options, loop, root);
    if (result.exitCode() != 0) {
      Oracles.run("losetup", "-d", loop).expect(0);
      Files.delete(root);
      result.expect(0);
    }
    return new KernelMount(root, loop);
  }

  /// A device of its own: `mount -o loop` takes one that is there already for a file of the same
  /// inode number, which may be one that was replaced.
  private static String attach(Path image, String options) throws IOException {
    boolean readOnly = List.of(options.split(",")).contains("ro");
    Oracles.Result result =
        readOnly
            ? Oracles.run("losetup", "-f", "--show", "-r", image)
            : Oracles.run("losetup", "-f", "--show", image);
    return result.expect(0).output().strip();
  }

  public Path root() {
    return root;
  }

  @Override
  public void close() throws IOException {
    Oracles.run("umount", root).expect(0);
    Oracles.run("losetup", "-d", loop).expect(0);
    Files.delete(root);
  }
}
