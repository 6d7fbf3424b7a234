package dev.extant.nio;

import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.block.RamDevice;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.Images;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.Node;
import dev.extant.vfs.XattrMode;
import dev.extant.vfs.XattrName;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// What copies within ext4 and moves from one ext4 to another keep, beyond what NIO has views for.
class CopiedAttributesTest {
  private static final FileTime TIME = FileTime.fromMillis(1_111_111_111_111L);

  private final List<RamDevice> devices =
      List.of(new RamDevice("one", 8 << 20), new RamDevice("two", 8 << 20));
  private Extant one;
  private Extant two;

  @BeforeEach
  void mount() throws IOException {
    one = mount(devices.getFirst());
    two = mount(devices.getLast());
  }

  private static Extant mount(RamDevice device) throws IOException {
    Mkfs.make(device, MkfsOptions.builder().build());
    return Extant.open(DelegatingDevice.withoutClose(device), MountOptions.defaults());
  }

  @AfterEach
  void closeAndCheck() throws IOException {
    one.close();
    two.close();
    for (RamDevice device : devices) {
      Images.requireClean(device);
      device.close();
    }
  }

  /// `user::rw-, user:1000:rwx, group::r--, mask::rwx, other::---` as Linux passes it on.
  private static byte[] accessList() {
    int[][] entries = {{1, 6, -1}, {2, 7, 1000}, {4, 4, -1}, {0x10, 7, -1}, {0x20, 0, -1}};
    ByteBuffer bytes = ByteBuffer.allocate(4 + 8 * entries.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putInt(2);
    for (int[] entry : entries) {
      bytes.putShort((short) entry[0]).putShort((short) entry[1]).putInt(entry[2]);
    }
    return bytes.array();
  }

  private static Node node(Extant mount, String name) throws FsException {
    try (Node root = mount.volume().root()) {
      return mount.volume().lookup(root, FileName.of(name));
    }
  }

  private Path makeFile() throws IOException {
    Path file = Files.writeString(one.fileSystem().getPath("/file"), "abc");
    Files.setAttribute(file, "unix:uid", 1234);
    Files.setAttribute(file, "unix:gid", 5678);
    Files.setAttribute(file, "unix:mode", 0104640);
    Files.setAttribute(file, "user:note", new byte[] {1, 2, 3});
    try (Node node = node(one, "file")) {
      for (String name : new String[] {"system.posix_acl_access", "trusted.key"}) {
        byte[] value = name.startsWith("system") ? accessList() : new byte[700];
        one.volume().setXattr(node, XattrName.of(name), value, XattrMode.SET);
      }
    }
    Files.setLastModifiedTime(file, TIME);
    return file;
  }

  private static void requireAll(Extant mount, String name) throws IOException {
    Path file = mount.fileSystem().getPath("/" + name);
    Map<String, Object> attributes = Files.readAttributes(file, "unix:uid,gid,mode");
    assertThat(attributes)
        .containsEntry("uid", 1234)
        .containsEntry("gid", 5678)
        .containsEntry("mode", 0104670);
    assertThat(Files.getLastModifiedTime(file)).isEqualTo(TIME);
    assertThat(Files.getAttribute(file, "user:note")).isEqualTo(new byte[] {1, 2, 3});
    try (Node node = node(mount, name)) {
      assertThat(mount.volume().xattr(node, XattrName.of("system.posix_acl_access")))
          .isEqualTo(accessList());
      assertThat(mount.volume().xattr(node, XattrName.of("trusted.key"))).hasSize(700);
      assertThat(mount.volume().xattrs(node)).hasSize(3);
    }
    assertThat(file).hasContent("abc");
  }

  @Test
  void aCopyWithAttributes() throws IOException {
    Files.copy(makeFile(), one.fileSystem().getPath("/copy"), COPY_ATTRIBUTES);
    requireAll(one, "copy");
    requireAll(one, "file");
  }

  @Test
  void aMoveToAnotherImage() throws IOException {
    Path file = makeFile();
    Files.move(file, two.fileSystem().getPath("/moved"));
    requireAll(two, "moved");
    assertThat(file).doesNotExist();
  }

  @Test
  void aCopyWithoutAttributes() throws IOException {
    Path copy = one.fileSystem().getPath("/copy");
    Files.copy(makeFile(), copy);
    assertThat(Files.readAttributes(copy, "unix:uid,gid"))
        .containsEntry("uid", 0)
        .containsEntry("gid", 0);
    assertThat((int) Files.getAttribute(copy, "unix:mode") & 07000).isZero();
    try (Node node = node(one, "copy")) {
      assertThat(one.volume().xattrs(node)).isEmpty();
    }
  }
}
