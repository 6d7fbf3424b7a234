package dev.extant.vfs;

/// Owner and permission bits (12) of an inode to be made.
///
/// In a directory with a default ACL the permissions are masked by that, as acl(5) says of creating
/// objects, and nothing else: a front that takes a umask off them does so only where the directory
/// has no `system.posix_acl_default`.
public record NewFile(int permissions, long uid, long gid) {}
