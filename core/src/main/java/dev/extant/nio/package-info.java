/// A NIO file system provider, scheme `extant`, over any [dev.extant.vfs.Volume].
///
/// [ExtantFileSystemProvider] hands each call on a path to the [Operations] of its
/// [ExtantFileSystem], or of an [ExtantDirectoryStream] for paths relative to it. These find inodes
/// ([PathLookup]) and call the volume by inode. Channels are thin ([ExtantFileChannel],
/// [ExtantAsynchronousFileChannel]) over an [OpenFile]. Errors become NIO's exceptions in one place
/// ([Errors]).
package dev.extant.nio;
