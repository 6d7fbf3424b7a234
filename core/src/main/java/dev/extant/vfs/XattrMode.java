package dev.extant.vfs;

/// Whether an extended attribute that is set may or must exist already.
public enum XattrMode {
  SET,
  /// EEXIST if it is there.
  CREATE,
  /// ENODATA if it is not there.
  REPLACE
}
