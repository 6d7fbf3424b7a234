package dev.extant.nio;

import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileOwnerAttributeView;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.Objects;
import java.util.Set;

/// Which attribute views there are.
final class AttributeViews {
  /// The names, `unix` among them, which has no interface in NIO.
  static final Set<String> NAMES = Set.of("basic", "owner", "posix", "unix", "user");

  private AttributeViews() {}

  /// Null if there is no such view.
  static <V extends FileAttributeView> V of(
      Class<V> type, Operations operations, ExtantPath path, Follow follow) {
    FileAttributeView view;
    if (Objects.requireNonNull(type) == BasicFileAttributeView.class) {
      view = new AttributeView("basic", operations, path, follow);
    } else if (type == PosixFileAttributeView.class) {
      view = new AttributeView("posix", operations, path, follow);
    } else if (type == FileOwnerAttributeView.class) {
      view = new AttributeView("owner", operations, path, follow);
    } else if (type == UserDefinedFileAttributeView.class) {
      view = new UserAttributeView(operations, path, follow);
    } else {
      return null;
    }
    return type.cast(view);
  }

  /// The name of the view in `VIEW:NAMES`, `basic` where there is none.
  ///
  /// @throws UnsupportedOperationException if there is no such view
  static String viewOf(String attributes) {
    int colon = attributes.indexOf(':');
    String view = colon < 0 ? "basic" : attributes.substring(0, colon);
    if (view.equals("acl")) {
      throw new UnsupportedOperationException(
          "there is no attribute view 'acl': ext4 has no NFSv4 access control lists, and its POSIX"
              + " ones are not what that view means");
    }
    if (!NAMES.contains(view)) {
      throw new UnsupportedOperationException("there is no attribute view '" + view + "'");
    }
    return view;
  }

  /// What follows the view.
  ///
  /// @throws IllegalArgumentException if that is nothing
  static String namesOf(String attributes) {
    String names = attributes.substring(attributes.indexOf(':') + 1);
    if (names.isEmpty()) {
      throw new IllegalArgumentException("no attribute is named in '" + attributes + "'");
    }
    return names;
  }
}
