package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.MemoryTempDir;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.Seeds;
import dev.extant.vfs.AttributeChange;
import dev.extant.vfs.Attributes;
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
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// POSIX ACLs: the kernel and we do the same to two images, and they are the same afterwards.
class PosixAclTest {
  private static final int STEPS = 120;
  private static final int PLACES = 5;

  @TempDir(factory = MemoryTempDir.class)
  Path folder;

  private SplittableRandom random;

  /// The steps, as they are done on the kernel's side: commands in the mounted directory.
  private final List<String> commands = new ArrayList<>();

  @BeforeAll
  static void needs() {
    Oracles.require("mke2fs", "e2fsck", "setfacl", "getfattr", "mknod");
    Oracles.requireRoot();
  }

  @ParameterizedTest
  @ValueSource(strings = {"-b 1024 -I 128", "-b 4096 -I 256", "-b 1024 -I 256 -O ea_inode"})
  void likeTheKernel(String options) throws IOException {
    random = new SplittableRandom(Seeds.fixed(options.hashCode()));
    Path ours = Mke2fs.make(folder.resolve("ours"), options, "16M");
    Path kernels = Mke2fs.make(folder.resolve("kernels"), options, "16M");
    try (Extant mount = Extant.open(ours, MountOptions.defaults())) {
      for (int i = 0; i < STEPS; i++) {
        step(mount.volume(), "n" + i);
      }
    }
    Path script = folder.resolve("script");
    try (KernelMount mount = KernelMount.of(kernels, "rw")) {
      commands.addFirst("umask 0");
      commands.addFirst("cd " + mount.root());
      Files.write(script, commands);
      Oracles.run("bash", "-e", script).expect(0);
    }
    Map<String, String> expected = tree(kernels);
    assertThat(expected).hasSizeGreaterThan(40);
    assertThat(tree(ours)).isEqualTo(expected);
    Oracles.run("e2fsck", "-fn", ours).expect(0);
    assertThat(treeOfVolume(ours)).isEqualTo(expected);
    assertThat(treeOfVolume(kernels)).isEqualTo(expected);
  }

  // ---- steps, of ours and of the kernel ----

  private void step(Volume volume, String name) throws IOException {
    String directory = "d" + random.nextInt(PLACES);
    try (Node root = volume.root();
        Node place = place(volume, root, directory)) {
      List<String> names = names(volume, place);
      if (names.isEmpty() || random.nextInt(3) == 0) {
        make(volume, place, directory, name);
        return;
      }
      String child = names.get(random.nextInt(names.size()));
      try (Node node = volume.lookup(place, FileName.of(child))) {
        switch (random.nextInt(3)) {
          case 0 -> chmod(volume, node, directory + "/" + child);
          case 1 -> setAccess(volume, node, directory + "/" + child);
          default -> setDefault(volume, place, directory);
        }
      }
    }
  }

  private Node place(Volume volume, Node root, String directory) throws FsException {
    try {
      return volume.lookup(root, FileName.of(directory));
    } catch (FsException e) {
      commands.add("mkdir -m 755 " + directory);
      return volume.mkdir(root, FileName.of(directory), new NewFile(0755, 0, 0));
    }
  }

  private void make(Volume volume, Node place, String directory, String name) throws IOException {
    FileName fileName = FileName.of(name);
    String path = directory + "/" + name;
    switch (random.nextInt(4)) {
      case 0 -> {
        volume.mkdir(place, fileName, new NewFile(0777, 0, 0)).close();
        commands.add("mkdir " + path);
      }
      case 1 -> {
        volume.symlink(place, fileName, new byte[] {'t'}, new NewFile(0777, 0, 0)).close();
        commands.add("ln -s t " + path);
      }
      case 2 -> {
        volume.mknod(place, fileName, FileType.FIFO, 0, new NewFile(0666, 0, 0)).close();
        commands.add("mkfifo " + path);
      }
      default -> {
        volume.create(place, fileName, new NewFile(0666, 0, 0)).close();
        commands.add(": > " + path);
      }
    }
  }

  private void chmod(Volume volume, Node node, String path) throws FsException {
    if (node.type() == FileType.SYMLINK) {
      return;
    }
    int permissions = random.nextInt(010000);
    volume.setAttributes(node, AttributeChange.permissions(permissions));
    commands.add(String.format("chmod u-s,g-s %s; chmod %04o %s", path, permissions, path));
  }

  private void setAccess(Volume volume, Node node, String path) throws FsException {
    if (node.type() == FileType.SYMLINK) {
      return;
    }
    set(volume, node, path, "access");
  }

  private void setDefault(Volume volume, Node place, String directory) throws FsException {
    set(volume, place, directory, "default");
  }

  /// Sets both by the same bytes.
  private void set(Volume volume, Node node, String path, String kind) throws FsException {
    XattrName name = XattrName.of("system.posix_acl_" + kind);
    byte[] acl = acl();
    volume.setXattr(node, name, acl, XattrMode.SET);
    commands.add("setfattr -n " + name + " -v 0x" + HexFormat.of().formatHex(acl) + " " + path);
  }

  private byte[] acl() {
    boolean named = random.nextInt(4) > 0;
    StringBuilder text = new StringBuilder("02000000");
    entry(text, 1, -1);
    for (int i = 0; named && i < 1 + random.nextInt(3); i++) {
      entry(text, 2, 10 + i);
    }
    entry(text, 4, -1);
    for (int i = 0; named && i < random.nextInt(3); i++) {
      entry(text, 8, 4_000_000_000L + i);
    }
    if (named || random.nextBoolean()) {
      entry(text, 16, -1);
    }
    entry(text, 32, -1);
    return HexFormat.of().parseHex(text);
  }

  private void entry(StringBuilder text, int tag, long id) {
    text.append(String.format("%02x00%02x00", tag, random.nextInt(8)));
    text.append(String.format("%08x", Integer.reverseBytes((int) id)));
  }

  private static List<String> names(Volume volume, Node directory) throws FsException {
    List<String> names = new ArrayList<>();
    volume.readDirectory(
        directory,
        0,
        (name, ino, type, cookie) -> {
          if (!name.isDot() && !name.isDotDot()) {
            names.add(name.toString());
          }
          return true;
        });
    return names;
  }

  // ---- trees: modes and attributes by path ----

  private static Map<String, String> tree(Path image) throws IOException {
    Map<String, String> tree = new TreeMap<>();
    try (KernelMount mount = KernelMount.of(image, "ro");
        Stream<Path> paths = Files.walk(mount.root())) {
      for (Path directory : (Iterable<Path>) paths.filter(Files::isDirectory)::iterator) {
        Map<String, Map<String, String>> xattrs = XattrImages.of(directory);
        try (Stream<Path> children = Files.list(directory)) {
          for (Path child : (Iterable<Path>) children::iterator) {
            Object mode = Files.getAttribute(child, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            Map<String, String> own = xattrs.getOrDefault(child.getFileName().toString(), Map.of());
            tree.put(mount.root().relativize(child).toString(), describe((Integer) mode, own));
          }
        }
      }
    }
    return tree;
  }

  private static String describe(int mode, Map<String, String> xattrs) {
    return Integer.toOctalString(mode) + " " + new TreeMap<>(xattrs);
  }

  private static Map<String, String> treeOfVolume(Path image) throws IOException {
    Map<String, String> tree = new TreeMap<>();
    try (Extant mount = Extant.open(image, MountOptions.parse("ro"));
        Node root = mount.volume().root()) {
      describe(mount.volume(), root, "", tree);
    }
    return tree;
  }

  private static void describe(
      Volume volume, Node directory, String prefix, Map<String, String> tree) throws FsException {
    for (String name : names(volume, directory)) {
      try (Node node = volume.lookup(directory, FileName.of(name))) {
        Map<String, String> xattrs = new TreeMap<>();
        for (XattrName xattr : volume.xattrs(node)) {
          xattrs.put(xattr.toString(), HexFormat.of().formatHex(volume.xattr(node, xattr)));
        }
        Attributes attributes = volume.attributes(node);
        tree.put(prefix + name, describe(attributes.mode(), xattrs));
        if (node.type() == FileType.DIRECTORY) {
          describe(volume, node, prefix + name + "/", tree);
        }
      }
    }
  }

  // ---- what is refused ----

  @Test
  void refusals() throws IOException {
    Path image = Mke2fs.make(folder.resolve("image"), "-b 1024", "8M");
    XattrName access = XattrName.of("system.posix_acl_access");
    XattrName defaults = XattrName.of("system.posix_acl_default");
    byte[] plain = hex("02000000 01000700ffffffff 04000500ffffffff 20000500ffffffff");
    byte[] noMask =
        hex("02000000 01000700ffffffff 0200070001000000 04000500ffffffff 20000500ffffffff");
    byte[] twice =
        hex(
            "02000000 01000700ffffffff 0200070001000000 0200070001000000"
                + "04000500ffffffff 10000700ffffffff 20000500ffffffff");
    NewFile owner = new NewFile(0644, 0, 0);
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Volume volume = mount.volume();
      try (Node root = volume.root();
          Node file = volume.create(root, FileName.of("f"), owner);
          Node link = volume.symlink(root, FileName.of("l"), new byte[] {'f'}, owner);
          Node fifo = volume.mknod(root, FileName.of("p"), FileType.FIFO, 0, owner)) {
        refused(Errno.EINVAL, volume, file, access, noMask);
        refused(Errno.EINVAL, volume, file, access, twice);
        refused(Errno.EINVAL, volume, file, access, hex("02000000 01000700ffffffff"));
        refused(Errno.EINVAL, volume, file, access, hex("02000000 01"));
        refused(Errno.EOPNOTSUPP, volume, file, access, hex("01000000"));
        refused(Errno.EACCES, volume, file, defaults, plain);
        refused(Errno.EOPNOTSUPP, volume, link, access, plain);
        refused(Errno.EPERM, volume, link, XattrName.of("user.a"), plain);
        refused(Errno.EPERM, volume, fifo, XattrName.of("user.a"), plain);
        refused(Errno.EOPNOTSUPP, volume, file, XattrName.of("system.data"), plain);
        refused(Errno.EOPNOTSUPP, volume, file, XattrName.of("other.a"), plain);
        refused(Errno.EINVAL, volume, file, XattrName.of("user."), plain);
        refused(Errno.E2BIG, volume, file, XattrName.of("user.a"), new byte[65_537]);
        refused(Errno.ENOSPC, volume, file, XattrName.of("user.a"), new byte[65_536]);

        volume.setXattr(file, access, plain, XattrMode.SET);
        assertThat(volume.attributes(file).permissions()).isEqualTo(0755);
        assertThat(volume.xattrs(file)).isEmpty();
      }
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  private static byte[] hex(String text) {
    return HexFormat.of().parseHex(text.replace(" ", ""));
  }

  private static void refused(Errno errno, Volume volume, Node node, XattrName name, byte[] value) {
    assertThatThrownBy(() -> volume.setXattr(node, name, value, XattrMode.SET))
        .isInstanceOfSatisfying(FsException.class, e -> assertThat(e.errno()).isEqualTo(errno));
  }
}
