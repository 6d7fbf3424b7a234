package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.Extant;
import dev.extant.block.RamDevice;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.Images;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.PowerCutDevice;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import dev.extant.vfs.XattrMode;
import dev.extant.vfs.XattrName;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// When the content of a small file stays in its inode, when it leaves it, and that nothing is lost
/// on the way. With inodes of 256 bytes there is room for 128 bytes: 60, and 96 less 28 for the
/// attribute that holds the rest.
class InlineDataCornersTest {
  private static final NewFile NEW = new NewFile(0644, 0, 0);
  private static final FileName NAME = FileName.of("file");
  private static final int ROOM = 128;

  @TempDir Path folder;
  private Path image;

  @BeforeAll
  static void needs() {
    Oracles.require("mke2fs", "e2fsck", "debugfs");
  }

  private Path make(String size) throws IOException {
    image = Mke2fs.make(folder.resolve("image"), "-b 1024 -I 256 -m 0 -O inline_data", size);
    return image;
  }

  private void e2fsck() throws IOException {
    BothChecks.pass(image);
  }

  private static byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    new Random(count).nextBytes(bytes);
    return bytes;
  }

  private static void write(Volume volume, Node file, long offset, byte[] bytes)
      throws FsException {
    assertThat(volume.write(file, offset, MemorySegment.ofArray(bytes))).isEqualTo(bytes.length);
  }

  private static byte[] read(Volume volume, Node file) throws FsException {
    byte[] content = new byte[(int) volume.attributes(file).sizeBytes() + 10];
    int count = volume.read(file, 0, MemorySegment.ofArray(content));
    return Arrays.copyOf(content, count);
  }

  private static long allocated(Volume volume, Node file) throws FsException {
    return volume.attributes(file).allocatedBytes();
  }

  private interface Work {
    void run(Volume volume, Node file) throws IOException;
  }

  /// Works on a new file of a new image.
  private void withFile(Work work) throws IOException {
    try (Extant mount = Extant.open(make("8M"), MountOptions.defaults());
        Node root = mount.volume().root();
        Node file = mount.volume().create(root, NAME, NEW)) {
      work.run(mount.volume(), file);
    }
    e2fsck();
  }

  @Test
  void staysAsLongAsThereIsRoom() throws IOException {
    withFile(
        (volume, file) -> {
          byte[] content = bytes(ROOM);
          for (int i = 0; i < ROOM; i++) {
            write(volume, file, i, Arrays.copyOfRange(content, i, i + 1));
            assertThat(read(volume, file)).isEqualTo(Arrays.copyOf(content, i + 1));
            assertThat(allocated(volume, file)).isZero();
          }
          assertThat(volume.seekData(file, 5)).isEqualTo(5);
          assertThat(volume.seekHole(file, 5)).isEqualTo(ROOM);
          assertThat(volume.seekHole(file, ROOM)).isEqualTo(-1);
          write(volume, file, ROOM, new byte[] {1});
          assertThat(allocated(volume, file)).isEqualTo(1024);
          assertThat(read(volume, file)).startsWith(content).hasSize(ROOM + 1);
        });
  }

  @Test
  void truncationStaysInsideAsFarAsItGoes() throws IOException {
    withFile(
        (volume, file) -> {
          byte[] content = bytes(100);
          write(volume, file, 0, content);
          volume.truncate(file, 30);
          volume.truncate(file, ROOM);
          byte[] expected = Arrays.copyOf(Arrays.copyOf(content, 30), ROOM);
          assertThat(read(volume, file)).isEqualTo(expected);
          assertThat(allocated(volume, file)).isZero();
          volume.truncate(file, 0);
          write(volume, file, 70, new byte[] {7});
          assertThat(read(volume, file)).hasSize(71).startsWith(new byte[70]).endsWith(7);
          assertThat(allocated(volume, file)).isZero();
          volume.truncate(file, 5000);
          assertThat(allocated(volume, file)).isEqualTo(1024);
          assertThat(read(volume, file)).hasSize(5000);
          volume.truncate(file, 0);
          assertThat(allocated(volume, file)).isZero();
        });
  }

  /// Linux, and mke2fs where there are zeroes, leave files longer than what their inodes hold.
  @ParameterizedTest
  @ValueSource(ints = {3, 4000})
  void whatTheInodeDoesNotHoldIsAHole(int offset) throws IOException {
    byte[] content = bytes(100);
    withFile((volume, file) -> write(volume, file, 0, content));
    Oracles.run("debugfs", "-w", "-R", "sif /file size 5000", image).expect(0);
    Oracles.run("e2fsck", "-fn", image).expect(0);
    try (Extant mount = Extant.open(image, MountOptions.defaults());
        Node root = mount.volume().root();
        Node file = mount.volume().lookup(root, NAME)) {
      Volume volume = mount.volume();
      byte[] expected = Arrays.copyOf(content, 5000);
      assertThat(read(volume, file)).isEqualTo(expected);
      assertThat(volume.seekHole(file, 0)).isEqualTo(100);
      assertThat(volume.seekData(file, 100)).isEqualTo(-1);
      write(volume, file, offset, new byte[] {9});
      expected[offset] = 9;
      assertThat(read(volume, file)).isEqualTo(expected);
    }
    e2fsck();
  }

  @Test
  void anAttributeTakesTheRoomOfTheContentIfThereIsNoOther() throws IOException {
    Oracles.requireRoot();
    byte[] content = bytes(100);
    XattrName large = XattrName.of("user.large");
    XattrName small = XattrName.of("user.s");
    withFile(
        (volume, file) -> {
          write(volume, file, 0, content);
          volume.setXattr(file, large, bytes(920), XattrMode.CREATE);
          assertThat(allocated(volume, file)).isEqualTo(1024);
          volume.setXattr(file, small, bytes(60), XattrMode.CREATE);
          assertThat(allocated(volume, file)).isEqualTo(2048);
          assertThat(read(volume, file)).isEqualTo(content);
          assertThat(volume.xattrs(file)).containsExactlyInAnyOrder(large, small);
          assertThatThrownBy(
                  () ->
                      volume.setXattr(
                          file, XattrName.of("system.data"), bytes(3), XattrMode.CREATE))
              .isInstanceOfSatisfying(
                  FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP));
        });
    try (KernelMount kernel = KernelMount.of(image, "ro")) {
      assertThat(Files.readAllBytes(kernel.root().resolve("file"))).isEqualTo(content);
      assertThat(XattrImages.of(kernel.root()).get("file"))
          .containsOnlyKeys("user.large", "user.s");
    }
  }

  @Test
  void anAttributeInTheInodeLeavesLessRoom() throws IOException {
    withFile(
        (volume, file) -> {
          volume.setXattr(file, XattrName.of("user.x"), bytes(20), XattrMode.CREATE);
          byte[] content = bytes(ROOM);
          write(volume, file, 0, Arrays.copyOf(content, 80));
          assertThat(allocated(volume, file)).isZero();
          write(volume, file, 80, Arrays.copyOfRange(content, 80, ROOM));
          assertThat(allocated(volume, file)).isEqualTo(1024);
          assertThat(read(volume, file)).isEqualTo(content);
          assertThat(volume.xattr(file, XattrName.of("user.x"))).isEqualTo(bytes(20));
        });
  }

  @Test
  void onAFullDiskTheContentStaysWhereItIs() throws IOException {
    byte[] content = bytes(100);
    withFile(
        (volume, file) -> {
          write(volume, file, 0, content);
          fill(volume);
          for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> write(volume, file, 100, bytes(100)))
                .isInstanceOfSatisfying(
                    FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOSPC));
            assertThatThrownBy(() -> volume.append(file, MemorySegment.ofArray(bytes(100))))
                .isInstanceOf(FsException.class);
            assertThat(read(volume, file)).isEqualTo(content);
          }
          write(volume, file, 100, bytes(20));
          assertThat(allocated(volume, file)).isZero();
        });
  }

  private static void fill(Volume volume) throws FsException {
    try (Node root = volume.root();
        Node file = volume.create(root, FileName.of("full"), NEW)) {
      MemorySegment chunk = MemorySegment.ofArray(new byte[1024]);
      for (long at = 0; ; at += 1024) {
        try {
          volume.write(file, at, chunk);
        } catch (FsException e) {
          assertThat(e.errno()).isEqualTo(Errno.ENOSPC);
          return;
        }
      }
    }
  }

  /// What was durable in the inode is so in the block too, also where data is written whenever it
  /// likes.
  @ParameterizedTest
  @ValueSource(strings = {"data=ordered", "data=writeback", "data=journal"})
  void contentThatWasDurableStaysSo(String options) throws Exception {
    byte[] content = bytes(100);
    make("8M");
    try (RamDevice ram = Mke2fs.load(image)) {
      PowerCutDevice device = new PowerCutDevice(ram);
      Volume volume = Extant.open(device, MountOptions.parse(options)).volume();
      try (Node root = volume.root();
          Node file = volume.create(root, NAME, NEW);
          Node other = volume.create(root, FileName.of("other"), NEW)) {
        write(volume, file, 0, content);
        volume.fsync(file, true).join();
        volume.truncate(file, 4000);
        write(volume, other, 0, content);
        volume.fsync(other, false).join();
        device.cutPowerAndLoseAll();
      }
      assertThatThrownBy(volume::close).isInstanceOf(FsException.class);
      try (Extant again = Extant.open(DelegatingDevice.withoutClose(ram), MountOptions.defaults());
          Node root = again.volume().root();
          Node file = again.volume().lookup(root, NAME)) {
        assertThat(read(again.volume(), file)).hasSize(4000).startsWith(content);
      }
      Images.copy(ram, image);
    }
    e2fsck();
  }
}
