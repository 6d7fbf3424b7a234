package dev.extant.vfs;

/// What stat(2) tells, at one moment. `mode` holds type and permission bits (12 bits with setuid,
/// setgid, sticky). `allocatedBytes` counts what the file occupies. `rdev` is major << 8 | minor as
/// Linux's new_encode_dev packs it, 0 unless a device.
public record Attributes(
    long ino,
    int generation,
    FileType type,
    int mode,
    int nlink,
    long uid,
    long gid,
    long sizeBytes,
    long allocatedBytes,
    int blockSizeBytes,
    long rdev,
    FileTimes times) {
  /// The lowest 12 bits of the mode.
  public int permissions() {
    return mode & 0xFFF;
  }
}
