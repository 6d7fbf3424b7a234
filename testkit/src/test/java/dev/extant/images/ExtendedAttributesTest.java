package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.MemoryTempDir;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.Seeds;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import dev.extant.vfs.XattrMode;
import dev.extant.vfs.XattrName;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Extended attributes on images of mke2fs: what we set the kernel reads and e2fsck passes, and
/// what the kernel sets we read, change and take away.
class ExtendedAttributesTest {
  private static final int FILES = 12;
  private static final int OPERATIONS = Integer.getInteger("extant.xattr.operations", 1_500);
  private static final NewFile OWNER = new NewFile(0644, 0, 0);
  private static final String[] SPACES = {"user.", "trusted.", "security."};

  @TempDir(factory = MemoryTempDir.class)
  Path folder;

  private final Map<String, Map<String, String>> expected = new TreeMap<>();
  private Path image;
  private SplittableRandom random;

  @BeforeAll
  static void needs() {
    Oracles.require("mke2fs", "e2fsck");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-b 1024 -I 128",
        "-b 1024 -I 256",
        "-b 1024 -I 1024",
        "-b 2048 -I 256 -O ^ext_attr",
        "-b 4096 -I 256",
        "-b 4096 -I 1024 -O ^metadata_csum,^64bit",
        "-b 4096 -I 128 -O ^has_journal",
        "-b 1024 -I 256 -O ea_inode",
        "-b 4096 -I 128 -O ea_inode",
        "-b 4096 -I 256 -O ea_inode,^metadata_csum",
        "-b 4096 -I 256 -O ea_inode,inline_data",
        "-b 4096 -I 256 -O bigalloc,ea_inode -C 16384",
      })
  void comesAndGoes(String options) throws IOException {
    image = Mke2fs.make(folder.resolve("image"), options, "32M");
    random = new SplittableRandom(Seeds.fixed(options.hashCode()));
    long freeBlocks;
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      freeBlocks = mount.volume().statistics().freeBlocks();
      makeFiles(mount.volume());
      change(mount.volume(), options.contains("ea_inode"));
      assertThat(XattrImages.of(mount.volume())).isEqualTo(expected);
    }
    verify();
    if (canMount()) {
      kernelChanges();
      verify();
    }
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      change(mount.volume(), options.contains("ea_inode"));
      assertThat(XattrImages.of(mount.volume())).isEqualTo(expected);
    }
    verify();
    removeFiles();
    verify();
    try (Extant mount = Extant.open(image, MountOptions.parse("ro"))) {
      assertThat(mount.volume().statistics().freeBlocks()).isEqualTo(freeBlocks);
    }
  }

  private static boolean canMount() {
    return "root".equals(System.getProperty("user.name")) && Oracles.find("getfattr").isPresent();
  }

  private void verify() throws IOException {
    Oracles.run("e2fsck", "-fn", image).expect(0);
    try (Extant mount = Extant.open(image, MountOptions.parse("ro"))) {
      assertThat(XattrImages.of(mount.volume())).isEqualTo(expected);
    }
    if (canMount()) {
      try (KernelMount mount = KernelMount.of(image, "ro")) {
        assertThat(XattrImages.of(mount.root())).isEqualTo(expected);
      }
    }
  }

  private void makeFiles(Volume volume) throws FsException {
    try (Node root = volume.root()) {
      for (int i = 0; i < FILES; i++) {
        FileName name = FileName.of("f" + i);
        switch (i) {
          case 0 -> volume.mkdir(root, name, OWNER).close();
          case 1 -> volume.symlink(root, name, new byte[] {'t'}, OWNER).close();
          case 2 -> volume.symlink(root, name, "t".repeat(99).getBytes(), OWNER).close();
          case 3 -> volume.mknod(root, name, FileType.FIFO, 0, OWNER).close();
          case 4 -> volume.mknod(root, name, FileType.BLOCK_DEVICE, 0x801, OWNER).close();
          default -> volume.create(root, name, OWNER).close();
        }
      }
    }
  }

  private void change(Volume volume, boolean large) throws FsException {
    List<Node> nodes = new ArrayList<>();
    try (Node root = volume.root()) {
      for (int i = 0; i < FILES; i++) {
        nodes.add(volume.lookup(root, FileName.of("f" + i)));
      }
      for (int i = 0; i < OPERATIONS; i++) {
        int file = random.nextInt(FILES);
        change(volume, nodes.get(file), "f" + file, large);
      }
    } finally {
      nodes.forEach(Node::close);
    }
  }

  private void change(Volume volume, Node node, String file, boolean large) throws FsException {
    XattrName name = name(node);
    Map<String, String> there = expected.getOrDefault(file, new TreeMap<>());
    String before = there.get(name.toString());
    if (random.nextInt(3) == 0) {
      Errno refused = refusal(() -> volume.removeXattr(node, name));
      assertThat(refused).isEqualTo(before == null ? Errno.ENODATA : null);
      there.remove(name.toString());
    } else {
      byte[] value = value(large);
      XattrMode mode = XattrMode.values()[random.nextInt(8) == 0 ? 1 + random.nextInt(2) : 0];
      Errno refused = refusal(() -> volume.setXattr(node, name, value, mode));
      if (mode == XattrMode.CREATE && before != null) {
        assertThat(refused).isEqualTo(Errno.EEXIST);
      } else if (mode == XattrMode.REPLACE && before == null) {
        assertThat(refused).isEqualTo(Errno.ENODATA);
      } else if (refused != null) {
        assertThat(refused).isEqualTo(Errno.ENOSPC);
      } else {
        there.put(name.toString(), HexFormat.of().formatHex(value));
      }
    }
    expected.put(file, there);
    if (there.isEmpty()) {
      expected.remove(file);
    }
  }

  /// The same names and values for many files, so that they share blocks and inodes.
  private XattrName name(Node node) throws FsException {
    boolean all = node.type() == FileType.REGULAR || node.type() == FileType.DIRECTORY;
    String space = SPACES[all ? random.nextInt(3) : 1 + random.nextInt(2)];
    int nr = random.nextInt(6);
    return XattrName.of(space + "n" + "m".repeat(nr * nr * nr % 200));
  }

  private byte[] value(boolean large) {
    int nr = random.nextInt(12);
    int length =
        switch (nr) {
          case 0 -> 0;
          case 1, 2, 3, 4, 5 -> nr * 7;
          case 6, 7, 8 -> nr * 40;
          case 9 -> 900;
          case 10 -> large ? 3_000 + random.nextInt(3) * 17_000 : 2_000;
          default -> large ? 65_536 : 3_900;
        };
    return ("" + nr).repeat(length).substring(0, length).getBytes(StandardCharsets.US_ASCII);
  }

  private interface Call {
    void run() throws FsException;
  }

  private static Errno refusal(Call call) {
    try {
      call.run();
      return null;
    } catch (FsException e) {
      return e.errno();
    }
  }

  private void kernelChanges() throws IOException {
    try (KernelMount mount = KernelMount.of(image, "rw")) {
      for (int i = 0; i < 60; i++) {
        int nr = 5 + random.nextInt(FILES - 5);
        String name = SPACES[random.nextInt(3)] + "n" + "m".repeat(random.nextInt(4));
        String value = "k".repeat(1 << random.nextInt(12));
        Path file = mount.root().resolve("f" + nr);
        Map<String, String> there = expected.computeIfAbsent("f" + nr, key -> new TreeMap<>());
        boolean done =
            random.nextInt(3) > 0
                && Oracles.run("setfattr", "-n", name, "-v", value, file).exitCode() == 0;
        if (done) {
          there.put(name, HexFormat.of().formatHex(value.getBytes(StandardCharsets.US_ASCII)));
        } else if (there.remove(name) != null) {
          Oracles.run("setfattr", "-x", name, file).expect(0);
        }
        if (there.isEmpty()) {
          expected.remove("f" + nr);
        }
      }
    }
  }

  private void removeFiles() throws IOException {
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Volume volume = mount.volume();
      try (Node root = volume.root()) {
        volume.rmdir(root, FileName.of("f0"));
        for (int i = 1; i < FILES; i++) {
          volume.unlink(root, FileName.of("f" + i));
        }
      }
    }
    expected.clear();
  }
}
