package dev.extant.vfs;

/// How a rename treats a name that exists already, as renameat2(2).
public enum RenameMode {
  /// Replaces it atomically.
  REPLACE,
  /// Fails with EEXIST.
  NO_REPLACE,
  /// Swaps the two atomically; both must exist.
  EXCHANGE
}
