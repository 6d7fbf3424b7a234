package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.block.RamDevice;
import dev.extant.ext4.format.GroupDescriptor;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.Seeds;
import dev.extant.util.Le;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.RenameMode;
import dev.extant.vfs.Volume;
import dev.extant.vfs.XattrMode;
import dev.extant.vfs.XattrName;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Inodes that hold their content, with bytes changed at random and no checksums: whatever is asked
/// of the volume ends in an answer or a typed error.
class DamagedInlineDataTest {
  private static final int ROUNDS = Integer.getInteger("extant.rounds", 700);
  private static final int INODE_SIZE = 256;

  /// The root's is 2, of mke2fs's files 11 to 30.
  private static final int FIRST_INO = 11;

  private static final int INODES = 20;
  private static final int MAX_DEPTH = 8;
  private static final Set<Errno> ALLOWED =
      EnumSet.of(
          Errno.EUCLEAN,
          Errno.ENOENT,
          Errno.EEXIST,
          Errno.ENOSPC,
          Errno.EISDIR,
          Errno.ENOTDIR,
          Errno.ENOTEMPTY);

  @TempDir Path folder;

  @BeforeAll
  static void needs() {
    Oracles.require("mke2fs");
  }

  private Path make() throws IOException {
    Path tree = folder.resolve("tree");
    Files.createDirectories(tree.resolve("d/e"));
    for (int i = 0; i < 9; i++) {
      Files.writeString(tree.resolve("d/f" + i), "x".repeat(i * 15));
    }
    for (int i = 0; i < 5; i++) {
      Files.write(tree.resolve("d/e/name" + i), new byte[i * 40]);
    }
    Files.createSymbolicLink(tree.resolve("link"), Path.of("t".repeat(90)));
    String options =
        "-b 1024 -I 256 -N 64 -O inline_data,^metadata_csum,^resize_inode,^has_journal -d ";
    return Mke2fs.make(folder.resolve("image"), options + tree, "2M");
  }

  @Test
  void givesAnswersOrTypedErrors() throws IOException {
    long seed = Seeds.fixed(1);
    Path image = make();
    for (int round = 0; round < ROUNDS; round++) {
      SplittableRandom random = new SplittableRandom(seed + round);
      try (RamDevice device = Mke2fs.load(image)) {
        damage(device.memory(), random);
        try (Extant mount = Extant.open(device, MountOptions.parse("errors=continue"));
            Node root = mount.volume().root()) {
          new Work(mount.volume(), random).in(root, 0);
        } catch (FsException e) {
          assertThat(e.errno()).isEqualTo(Errno.EUCLEAN);
        }
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + (seed + round) + ": " + e, e);
      }
    }
  }

  /// Prefers i_block and what is behind the fields.
  private static void damage(MemorySegment image, SplittableRandom random) {
    long table = 1024 * GroupDescriptor.inodeTable(image.asSlice(2048, 64));
    for (int count = 1 + random.nextInt(4); count > 0; count--) {
      int ino = random.nextInt(4) == 0 ? 2 : FIRST_INO + random.nextInt(INODES);
      int offset =
          switch (random.nextInt(3)) {
            case 0 -> random.nextInt(INODE_SIZE);
            case 1 -> 0x28 + random.nextInt(60);
            default -> 0xA0 + random.nextInt(96);
          };
      long at = table + (ino - 1L) * INODE_SIZE + offset;
      int flipped = Le.u8(image, at) ^ 1 << random.nextInt(8);
      Le.put8(image, at, random.nextBoolean() ? random.nextInt(256) : flipped);
    }
  }

  /// Asks for everything and changes much.
  private record Work(Volume volume, SplittableRandom random) {
    private interface Step {
      void run() throws FsException;
    }

    private static void attempt(Step step) {
      try {
        step.run();
      } catch (FsException e) {
        assertThat(e.errno()).as("%s", e.getMessage()).isIn(ALLOWED);
      }
    }

    private static MemorySegment bytes(int count) {
      return MemorySegment.ofArray(new byte[count]);
    }

    void in(Node directory, int depth) {
      assertThat(depth).isLessThan(MAX_DEPTH);
      List<FileName> names = new ArrayList<>();
      attempt(
          () ->
              volume.readDirectory(
                  directory, 0, (name, ino, type, next) -> names.add(name) && names.size() < 1000));
      assertThat(names).hasSizeLessThan(1000);
      for (FileName name : names) {
        if (!name.isDot() && !name.isDotDot()) {
          attempt(() -> look(directory, name, depth));
          change(directory, name);
        }
      }
      for (int i = 0; i < 6; i++) {
        String name = "new" + i + "y".repeat(random.nextInt(30));
        NewFile file = new NewFile(0755, 0, 0);
        attempt(() -> volume.create(directory, FileName.of(name), file).close());
        attempt(() -> volume.mkdir(directory, FileName.of("d" + name), file).close());
      }
    }

    private void look(Node directory, FileName name, int depth) throws FsException {
      try (Node node = volume.lookup(directory, name)) {
        attempt(() -> volume.attributes(node));
        attempt(() -> volume.xattrs(node));
        if (node.type() == FileType.DIRECTORY) {
          in(node, depth + 1);
        } else if (node.type() == FileType.SYMLINK) {
          attempt(() -> volume.readlink(node));
        } else if (node.type() == FileType.REGULAR) {
          file(node);
        }
      }
    }

    private void file(Node file) {
      attempt(() -> volume.read(file, random.nextInt(200), bytes(300)));
      attempt(() -> volume.seekHole(file, 3));
      attempt(() -> volume.seekData(file, 3));
      attempt(() -> volume.write(file, random.nextInt(200), bytes(1 + random.nextInt(200))));
      attempt(() -> volume.truncate(file, random.nextInt(200)));
      attempt(() -> volume.append(file, bytes(20)));
      attempt(() -> volume.setXattr(file, XattrName.of("user.a"), new byte[30], XattrMode.SET));
      attempt(() -> volume.truncate(file, random.nextInt(3000)));
    }

    private void change(Node directory, FileName name) {
      FileName other = FileName.of("r" + random.nextInt(1000));
      switch (random.nextInt(10)) {
        case 0, 1 -> attempt(() -> volume.unlink(directory, name));
        case 2, 3 -> attempt(() -> volume.rmdir(directory, name));
        case 4, 5 ->
            attempt(() -> volume.rename(directory, name, directory, other, RenameMode.REPLACE));
        default -> {}
      }
    }
  }
}
