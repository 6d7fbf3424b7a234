/// Checks a file system without changing it: a second reading of the format that shares no code
/// with the package that writes it.
///
/// [Fsck] opens the superblock ([SuperblockCheck]), checks the descriptors, and then runs named
/// steps over one [CheckContext]:
///
/// 1. *inodes*: [InodeScan] visits every inode in use, in any order and on several threads. For
///    each it makes a [ScannedInode], [InodeCheck] checks it and claims its blocks, and then every
///    [InodeVisitor] sees it. `XattrCheck` is asked before the count of blocks is compared.
/// 2. *directories*: `DirectoryCheck`, over what it kept of the directories it has seen: entries,
///    indexes, tree, reachability.
/// 3. *links*: `LinkCounts`.
/// 4. *orphans*, *journal*: `OrphanCheck`, `JournalCheck`.
/// 5. *shared blocks*: who owns what is claimed twice.
/// 6. *bitmaps*: bitmaps and counts against [BlockClaims] and [InodeStates].
///
/// Where things are: the raw bytes of an inode at [CheckContext#readInode], the blocks of a file at
/// [FileBlocks], what each inode is at [InodeStates]. A step adds its problems to [Problem] in a
/// part of its own and reports to [CheckContext#findings].
///
/// Rules: numbers from disk are checked before they are used as an index, a size or a bound. No
/// allocation is larger than a few bits per block of the device and a few bytes per inode. A block
/// that cannot be read is a finding, not an end.
package dev.extant.fsck;
