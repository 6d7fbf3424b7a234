package dev.extant.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// An image mounted by the kernel through a loop device. Needs root; see [Oracles#requireRoot()].
public final class KernelMount implements AutoCloseable {
  private final Path root;

  private KernelMount(Path root) {
    this.root = root;
  }

  /// Mounts the image on a new directory beside it; `options` as after `mount -o`, in addition to
  /// `loop`.
  public static KernelMount of(Path image, String options) throws IOException {
    Path root = Files.createTempDirectory(image.getParent(), "mount");
    Oracles.Result result =
        Oracles.run("mount", "-t", "ext4", "-o", "loop," + options, image, root);
    if (result.exitCode() != 0) {
      Files.delete(root);
      result.expect(0);
    }
    return new KernelMount(root);
  }

  public Path root() {
    return root;
  }

  @Override
  public void close() throws IOException {
    Oracles.run("umount", root).expect(0);
    Files.delete(root);
  }
}
