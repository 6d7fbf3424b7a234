package dev.extant.ext4;

import dev.extant.vfs.FsException;

/// Told of damage that was found in the file system's structures and that the finder worked around.
/// What follows is the mount's `errors=` policy.
///
/// Called with locks of the allocators and a handle held: must be quick and must not wait.
interface CorruptionHandler {
  /// `damage` is an EUCLEAN with what and where. Each damaged place is reported once.
  void corrupt(FsException damage);
}
