package dev.extant.vfs;

/// Owner and permission bits (12) of an inode to be made.
public record NewFile(int permissions, long uid, long gid) {}
