package dev.extant.ext4;

/// What a directory says of a name: its inode and its type byte, 0 where types are not recorded
/// (see [dev.extant.vfs.FileType#ofEntryCode]).
record DirectoryEntry(long ino, int typeCode) {}
