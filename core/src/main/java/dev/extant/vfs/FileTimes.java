package dev.extant.vfs;

import java.time.Instant;

/// The times of an inode; `created` is null where the inode has no room for it. A null in an
/// [AttributeChange] means: leave as it is.
public record FileTimes(Instant accessed, Instant modified, Instant changed, Instant created) {}
