/// A NIO file system provider, scheme `extant`, over any [dev.extant.vfs.Volume].
///
/// [ExtantFileSystemProvider] hands each call on a path to the [Operations] of its
/// [ExtantFileSystem], which walk the path ([PathWalk]) and call the volume by inode. Errors become
/// NIO's exceptions in one place ([Errors]).
package dev.extant.nio;
