package dev.extant.testkit;

import dev.extant.testkit.TwinVolumes.Both;
import dev.extant.testkit.TwinVolumes.Outcome;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.PosixAcl;
import dev.extant.vfs.Volume;
import dev.extant.vfs.XattrMode;
import dev.extant.vfs.XattrName;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/// Random operations with extended attributes on [TwinVolumes]. Names and values come from a small
/// stock, so that inodes have the same ones.
final class RandomXattrs {
  /// So much every inode has room for, in the smallest block if not in itself.
  private static final int ROOM_BYTES = 900;

  /// An entry beside its name, and padding.
  private static final int ENTRY_BYTES = 24;

  private static final String[] NAMES = {
    "user.a", "user.name", "trusted.a", "security.a", "security.selinux", "user.", "other.name"
  };

  private final TwinVolumes twins;
  private final SplittableRandom random;
  private final Supplier<TwinNode> nodes;

  /// `nodes` may give null.
  RandomXattrs(TwinVolumes twins, SplittableRandom random, Supplier<TwinNode> nodes) {
    this.twins = twins;
    this.random = random;
    this.nodes = nodes;
  }

  private XattrName name() throws FsException {
    return switch (random.nextInt(10)) {
      case 0, 1 -> XattrName.of("system.posix_acl_access");
      case 2 -> XattrName.of("system.posix_acl_default");
      case 3 -> XattrName.of("user." + "n".repeat(random.nextInt(200)));
      default -> XattrName.of(NAMES[random.nextInt(random.nextInt(20) == 0 ? NAMES.length : 5)]);
    };
  }

  private byte[] value(XattrName name) {
    if (name.toString().startsWith("system.") && random.nextInt(20) > 0) {
      return acl().xattr();
    }
    int nr = random.nextInt(40);
    int length =
        switch (nr) {
          case 0 -> random.nextInt(5_000);
          case 1 -> random.nextInt(70_000);
          case 2, 3, 4 -> random.nextInt(1_000);
          default -> nr * 3;
        };
    byte[] value = new byte[length];
    Arrays.fill(value, (byte) nr);
    return value;
  }

  private PosixAcl acl() {
    List<PosixAcl.Entry> entries = new ArrayList<>();
    boolean named = random.nextBoolean();
    entries.add(new PosixAcl.Entry(PosixAcl.USER_OBJ, random.nextInt(8), 0));
    if (named) {
      entries.add(new PosixAcl.Entry(PosixAcl.USER, random.nextInt(8), random.nextInt(3)));
    }
    entries.add(new PosixAcl.Entry(PosixAcl.GROUP_OBJ, random.nextInt(8), 0));
    if (named && random.nextBoolean()) {
      entries.add(new PosixAcl.Entry(PosixAcl.GROUP, random.nextInt(8), random.nextInt(3)));
    }
    if (named && random.nextInt(20) > 0 || random.nextInt(4) == 0) {
      entries.add(new PosixAcl.Entry(PosixAcl.MASK, random.nextInt(8), 0));
    }
    entries.add(new PosixAcl.Entry(PosixAcl.OTHER, random.nextInt(8), 0));
    return new PosixAcl(entries);
  }

  void set() throws FsException {
    TwinNode node = nodes.get();
    if (node == null) {
      return;
    }
    XattrName name = name();
    byte[] value = value(name);
    XattrMode mode = random.nextInt(6) == 0 ? XattrMode.values()[random.nextInt(3)] : XattrMode.SET;
    twins.note("setXattr " + node + " " + name + ", " + value.length + " bytes, " + mode);
    Outcome<Boolean> found =
        TwinVolumes.outcome(() -> set(twins.real(), node.real(), name, value, mode));
    if (found.errno() == Errno.ENOSPC && bytes(node, name, value) > ROOM_BYTES) {
      twins.amend(found.toString());
      return;
    }
    twins.both(
        () -> set(twins.model(), node.model(), name, value, mode),
        () -> {
          if (found.refused()) {
            throw found.refusal();
          }
          return true;
        });
  }

  private static boolean set(
      Volume volume, dev.extant.vfs.Node node, XattrName name, byte[] value, XattrMode mode)
      throws FsException {
    volume.setXattr(node, name, value, mode);
    return true;
  }

  /// What the node's attributes take with the new one beside the others, at most.
  private long bytes(TwinNode node, XattrName name, byte[] value) throws FsException {
    Volume model = twins.model();
    long bytes = ENTRY_BYTES + name.bytes().length + value.length;
    for (XattrName other : model.xattrs(node.model())) {
      if (!other.equals(name)) {
        int length = model.xattr(node.model(), other).length;
        bytes += ENTRY_BYTES + other.bytes().length + length;
      }
    }
    return bytes;
  }

  void remove() throws FsException {
    TwinNode node = nodes.get();
    if (node == null) {
      return;
    }
    XattrName name = name();
    twins.note("removeXattr " + node + " " + name);
    twins.bothDo(
        () -> twins.model().removeXattr(node.model(), name),
        () -> twins.real().removeXattr(node.real(), name));
  }

  void get() throws FsException {
    TwinNode node = nodes.get();
    if (node == null) {
      return;
    }
    XattrName name = name();
    twins.note("xattr " + node + " " + name);
    Both<byte[]> values =
        twins.both(
            () -> twins.model().xattr(node.model(), name),
            () -> twins.real().xattr(node.real(), name));
    if (values != null) {
      TreeComparison.requireEqual(
          "value", Arrays.toString(values.model()), Arrays.toString(values.real()));
    }
    TreeComparison.compareXattrs(
        node.label(), twins.model(), node.model(), twins.real(), node.real());
  }
}
