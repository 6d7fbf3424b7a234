package dev.extant.vfs;

/// Receives the entries of a directory one by one.
@FunctionalInterface
public interface DirectoryVisitor {
  /// `type` is null where the directory does not record types. `cookie` continues after this entry.
  /// Returning false ends the reading.
  boolean entry(FileName name, long ino, FileType type, long cookie);
}
