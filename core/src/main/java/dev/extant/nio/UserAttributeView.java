package dev.extant.nio;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import dev.extant.vfs.XattrMode;
import dev.extant.vfs.XattrName;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// The extended attributes `user.NAME` of a path, by NAME; bytes of names that are no UTF-8 are
/// kept as in paths.
///
/// As in Linux, only regular files and directories have them.
record UserAttributeView(Operations operations, ExtantPath path, Follow follow)
    implements UserDefinedFileAttributeView {
  private static final byte[] PREFIX = "user.".getBytes(StandardCharsets.US_ASCII);

  @Override
  public String name() {
    return "user";
  }

  @Override
  public List<String> list() throws IOException {
    return operations.onNode(path, follow, UserAttributeView::list);
  }

  private static List<String> list(Volume volume, Node node) throws FsException {
    List<String> names = new ArrayList<>();
    for (XattrName name : volume.xattrs(node)) {
      byte[] bytes = name.bytes();
      if (bytes.length > PREFIX.length
          && Arrays.equals(bytes, 0, PREFIX.length, PREFIX, 0, PREFIX.length)) {
        names.add(NameCodec.decode(Arrays.copyOfRange(bytes, PREFIX.length, bytes.length)));
      }
    }
    return names;
  }

  private XattrName xattr(String name) throws IOException {
    byte[] bytes = NameCodec.encode(name);
    byte[] full = Arrays.copyOf(PREFIX, PREFIX.length + bytes.length);
    System.arraycopy(bytes, 0, full, PREFIX.length, bytes.length);
    if (bytes.length == 0 || full.length > XattrName.MAX_BYTES) {
      throw new FileSystemException(
          path.toString(), null, "not a name of an attribute: 'user." + name + "'");
    }
    return XattrName.of(full);
  }

  private byte[] value(String name) throws IOException {
    XattrName xattr = xattr(name);
    return operations.onNode(path, follow, (volume, node) -> volume.xattr(node, xattr));
  }

  @Override
  public int size(String name) throws IOException {
    return value(name).length;
  }

  /// @throws FileSystemException if the buffer is too small; then it gets nothing
  @Override
  public int read(String name, ByteBuffer target) throws IOException {
    OpenFile.requireModifiable(target);
    byte[] value = value(name);
    if (value.length > target.remaining()) {
      throw new FileSystemException(
          path.toString(),
          null,
          "'user." + name + "' has " + value.length + " bytes, the buffer " + target.remaining());
    }
    target.put(value);
    return value.length;
  }

  @Override
  public int write(String name, ByteBuffer source) throws IOException {
    XattrName xattr = xattr(name);
    byte[] value = new byte[source.remaining()];
    source.duplicate().get(value);
    operations.onNode(
        path,
        follow,
        (volume, node) -> {
          requireAttributes(node);
          volume.setXattr(node, xattr, value, XattrMode.SET);
          return null;
        });
    source.position(source.limit());
    return value.length;
  }

  private static void requireAttributes(Node node) throws FsException {
    if (node.type() != FileType.REGULAR && node.type() != FileType.DIRECTORY) {
      throw new FsException(
          Errno.EPERM, "only regular files and directories have attributes of the user");
    }
  }

  @Override
  public void delete(String name) throws IOException {
    XattrName xattr = xattr(name);
    operations.onNode(
        path,
        follow,
        (volume, node) -> {
          volume.removeXattr(node, xattr);
          return null;
        });
  }

  /// The values of a list of names, or of `*`.
  Map<String, Object> read(String names) throws IOException {
    List<String> wanted = new ArrayList<>();
    for (String name : names.split(",", -1)) {
      if (name.equals("*")) {
        wanted.addAll(list());
      } else {
        wanted.add(name);
      }
    }
    Map<String, Object> values = new LinkedHashMap<>();
    for (String name : wanted) {
      values.put(name, value(name));
    }
    return values;
  }

  /// Sets one to bytes or the rest of a buffer.
  ///
  /// @throws ClassCastException if the value is neither
  void set(String name, Object value) throws IOException {
    Objects.requireNonNull(value);
    write(name, value instanceof byte[] bytes ? ByteBuffer.wrap(bytes) : (ByteBuffer) value);
  }
}
