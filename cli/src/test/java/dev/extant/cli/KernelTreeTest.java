package dev.extant.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.testkit.Oracles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A large tree that we copied into an image is the same tree for the kernel, and the other way.
class KernelTreeTest {
  private static final long SEED = 5000;
  private static final int FILES = 5000;

  @TempDir Path host;

  @Test
  void theKernelSeesTheTreeThatWeCopied() throws IOException {
    Oracles.requireRoot();
    Oracles.require("mount", "umount", "diff", "e2fsck");
    Path tree = host.resolve("tree");
    new HostTree(SEED).make(tree, FILES);
    Path image = host.resolve("data.img");
    Cli cli = ImageFixture.make(image, 1L << 30);
    cli.run("cp", "-r", tree, image + ":/").ok();
    ImageFixture.check(image);
    Path mounted = Files.createDirectory(host.resolve("mnt"));
    Oracles.run("mount", "-o", "loop,ro", image, mounted).expect(0);
    try {
      Oracles.run("diff", "-r", "--no-dereference", tree, mounted.resolve("tree")).expect(0);
      assertThat(HostTree.differences(tree, mounted.resolve("tree"))).as("seed %d", SEED).isEmpty();
    } finally {
      Oracles.run("umount", mounted).expect(0);
    }
    Path back = host.resolve("back");
    cli.run("cp", "-r", image + ":/tree", back).ok();
    assertThat(HostTree.differences(tree, back)).as("seed %d", SEED).isEmpty();
  }
}
