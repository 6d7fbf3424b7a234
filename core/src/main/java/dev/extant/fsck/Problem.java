package dev.extant.fsck;

/// What can be wrong with a file system. `structure` is the part of the format; `wording` is close
/// to what e2fsck prints of the same thing. A warning is told but does not make the check fail, as
/// with e2fsck.
public enum Problem {
  // Superblock, descriptors, bitmaps, inodes, block maps.
  NEEDS_RECOVERY("superblock", "the journal is not replayed: checked as it is without it", true),
  SUPERBLOCK_INVALID("superblock", "superblock invalid"),
  BACKUP_SUPERBLOCK("superblock", "the backup is invalid", true),
  DEVICE_TOO_SMALL("superblock", "the file system is larger than the device"),
  STATE_ERRORS("superblock", "the file system was marked as having errors", true),
  FEATURES_REVISION_0("superblock", "has feature flags set, but is a revision 0 file system"),
  FEATURE_COMBINATION("superblock", "features that exclude each other"),
  FIRST_META_GROUP("superblock", "first_meta_bg is too big", true),
  SUPERBLOCK_EXTRA_SIZE("superblock", "bad extra isize", true),
  MMP_PLACE("superblock", "invalid MMP block"),
  MMP_MAGIC("MMP block", "invalid MMP magic"),
  MMP_CHECKSUM("MMP block", "MMP block checksum does not match"),
  READ_ERROR("device", "error reading block"),

  DESCRIPTORS_INVALID("group descriptor", "group descriptors look bad"),
  DESCRIPTOR_PLACE("group descriptor", "bad block, or not in its group"),
  DESCRIPTOR_OVERLAP("group descriptor", "conflicts with some other fs block"),
  DESCRIPTOR_CHECKSUM("group descriptor", "checksum is invalid", true),
  DESCRIPTOR_UNINIT_WITHOUT_FEATURE(
      "group descriptor", "marked uninitialized without feature set", true),
  DESCRIPTOR_INODES_IN_UNINIT("group descriptor", "inodes in use but group is marked INODE_UNINIT"),
  DESCRIPTOR_UNUSED_INODES("group descriptor", "invalid unused inodes count"),
  DESCRIPTOR_LAST_UNINIT("group descriptor", "last group block bitmap uninitialized"),

  INODE_CHECKSUM("inode", "checksum does not match inode"),
  INODE_MODE("inode", "has invalid mode"),
  INODE_DTIME_SET("inode", "is in use, but has dtime set"),
  INODE_DTIME_ZERO("inode", "deleted inode has zero dtime"),
  INODE_ORPHANED("inode", "was part of the orphaned inode list"),
  INODE_FIELD_NOT_ZERO("inode", "should be zero"),
  INODE_IMAGIC("inode", "has imagic flag set"),
  INODE_CASEFOLD("inode", "has the casefold flag set but may not"),
  INODE_INLINE_WITHOUT_FEATURE(
      "inode", "has INLINE_DATA_FL flag on file system without inline data support"),
  INODE_EXTENTS_WITHOUT_FEATURE(
      "inode", "has EXTENTS_FL flag set on file system without extents support"),
  INODE_EXTENTS_AND_INLINE("inode", "has inline data and extent flags set"),
  INODE_EXTENTS_FLAG_MISSING("inode", "missing EXTENTS_FL, but is in extents format"),
  INODE_NOT_EXTENTS("inode", "on bigalloc file system cannot be block mapped"),
  INODE_EXTRA_SIZE("inode", "has an extra size which is invalid"),
  INODE_SIZE("inode", "i_size is wrong"),
  INODE_BLOCK_COUNT("inode", "i_blocks is wrong"),
  LARGE_FILE_FEATURE("superblock", "contains large files, but lacks LARGE_FILE flag"),
  DIRECTORY_EMPTY("inode", "is a zero-length directory"),
  DIRECTORY_UNWRITTEN("inode", "directory has uninitialized block"),
  SPECIAL_IMMUTABLE(
      "inode", "special (device/socket/fifo/symlink) file has immutable or append-only flag set"),
  SPECIAL_SIZE("inode", "special (device/socket/fifo) inode has non-zero size"),
  SPECIAL_ILLEGAL("inode", "is an illegal device, socket or fifo"),
  SYMBOLIC_LINK("inode", "symlink is invalid"),
  ROOT_NOT_DIRECTORY("inode", "root inode is not a directory"),
  RESERVED_MODE("inode", "reserved inode has invalid mode"),
  RESERVED_NOT_CLEAR("inode", "reserved inode is not in use, but contains data"),
  BAD_BLOCKS_INODE("inode", "the bad block inode looks invalid"),
  RESIZE_INODE("inode", "resize inode not valid"),

  EXTENT_HEADER("extent tree", "corrupt extent header"),
  EXTENT_DEPTH("extent tree", "extent tree could be more shallow", true),
  EXTENT_INVALID("extent tree", "has an invalid extent"),
  EXTENT_ORDER("extent tree", "has out of order extents"),
  EXTENT_NODE_INVALID("extent tree", "has an invalid extent node"),
  EXTENT_NODE_EMPTY("extent tree", "has an empty extent node"),
  EXTENT_START("extent tree", "logical start does not match logical start at next level"),
  EXTENT_CHECKSUM("extent tree", "checksum does not match extent block"),
  ILLEGAL_BLOCK("block map", "illegal block"),
  ILLEGAL_INDIRECT_BLOCK("block map", "illegal indirect block"),
  MAP_LOOP("block map", "block is part of the map more than once"),
  MAP_TOO_SHARED("block map", "blocks of maps are shared too often to follow them all"),
  METADATA_COLLISION("block map", "conflicts with critical metadata, skipping block checks"),
  CLUSTER_ALIGNMENT("block map", "violates cluster allocation rules"),
  TOO_MANY_ILLEGAL_BLOCKS("block map", "too many illegal blocks"),
  SHARED_BLOCKS("block map", "multiply-claimed block(s)"),

  BLOCK_BITMAP("block bitmap", "block bitmap differences"),
  BLOCK_BITMAP_PADDING("block bitmap", "padding at end of block bitmap is not set"),
  BLOCK_BITMAP_CHECKSUM("block bitmap", "block bitmap does not match checksum"),
  BLOCKS_IN_UNINIT("block bitmap", "block(s) in use but group is marked BLOCK_UNINIT"),
  FREE_BLOCKS("group descriptor", "free blocks count wrong for group"),
  FREE_BLOCKS_TOTAL("superblock", "free blocks count wrong", true),
  INODE_BITMAP("inode bitmap", "inode bitmap differences"),
  INODE_BITMAP_PADDING("inode bitmap", "padding at end of inode bitmap is not set"),
  INODE_BITMAP_CHECKSUM("inode bitmap", "inode bitmap does not match checksum"),
  FREE_INODES("group descriptor", "free inodes count wrong for group"),
  FREE_INODES_TOTAL("superblock", "free inodes count wrong", true),
  DIRECTORIES("group descriptor", "directories count wrong for group"),

  // Directories, links, orphans, extended attributes, inline data, journal.
  DIRECTORY_HOLE("directory", "directory has an unallocated block"),
  DIRECTORY_CORRUPT("directory", "directory corrupted"),
  DIRECTORY_CHECKSUM("directory", "directory fails checksum"),
  DIRECTORY_NO_CHECKSUM("directory", "directory block has no checksum"),
  DIRECTORY_NO_DOT("directory", "missing '.'"),
  DIRECTORY_NO_DOT_DOT("directory", "missing '..'"),
  DIRECTORY_DOT_INODE("directory", "invalid inode number for '.'"),
  DIRECTORY_DOT_NAME("directory", "first entries not NULL terminated"),
  ENTRY_INODE("directory entry", "has invalid inode number"),
  ENTRY_UNUSED_INODE("directory entry", "has deleted/unused inode"),
  ENTRY_TYPE("directory entry", "has an incorrect filetype"),
  ENTRY_NO_NAME("directory entry", "has a zero-length name"),
  ENTRY_NAME("directory entry", "has illegal characters in its name"),
  ENTRY_DUPLICATE("directory entry", "is duplicate"),
  ENTRY_LINK_TO_DIRECTORY("directory entry", "is a link to '.' or to the root"),
  ENTRY_EA_INODE("directory entry", "references an inode of an extended attribute"),
  ENTRY_ENCRYPTED_SHORT("directory entry", "encrypted entry is too short"),
  ENTRY_NOT_ENCRYPTED("directory entry", "encrypted entry references unencrypted inode"),
  ENTRY_ENCRYPTION_POLICY("directory entry", "references inode of a different policy"),
  HTREE_FLAG("htree", "index flag where no index can be"),
  HTREE_ROOT("htree", "root node is invalid"),
  HTREE_ROOT_FLAG("htree", "uses an incompatible htree root node flag"),
  HTREE_HASH_VERSION("htree", "has an unsupported hash version"),
  HTREE_DEPTH("htree", "has an invalid depth"),
  HTREE_LIMIT("htree", "has invalid limit"),
  HTREE_COUNT("htree", "has invalid count"),
  HTREE_ORDER("htree", "has an unordered hash table"),
  HTREE_CHECKSUM("htree", "internal node fails checksum"),
  HTREE_BLOCK("htree", "bad block number"),
  HTREE_REFERENCED_TWICE("htree", "block referenced twice"),
  HTREE_UNREFERENCED("htree", "block not referenced"),
  HTREE_MIN_HASH("htree", "block has bad min hash"),
  HTREE_MAX_HASH("htree", "block has bad max hash"),
  DIRECTORY_UNCONNECTED("tree", "unconnected directory inode"),
  DIRECTORY_PARENT("tree", "'..' is not the parent"),
  DIRECTORY_LINKED_TWICE("tree", "an entry is a link to a directory that has one already"),
  INODE_UNATTACHED("links", "unattached inode"),
  LINK_COUNT("links", "reference count is wrong"),
  EA_INODE_FLAG("extended attributes", "EA_INODE flag where it must not be"),
  EA_INODE_REFCOUNT("extended attributes", "inode of a value has a wrong reference count"),
  XATTR_CORRUPT("extended attributes", "corrupt, allocation collision"),
  XATTR_VALUE_SIZE("extended attributes", "value size is invalid"),
  XATTR_VALUE_INODE("extended attributes", "illegal value inode"),
  XATTR_VALUE_INODE_FLAG("extended attributes", "value inode is missing EA_INODE flag"),
  XATTR_HASH("extended attributes", "hash is invalid"),
  XATTR_BLOCK_NUMBER("extended attributes", "number of the block is invalid"),
  XATTR_BLOCK_MAGIC("extended attributes", "bad extended attribute block"),
  XATTR_BLOCK_COUNT("extended attributes", "h_blocks is not 1"),
  XATTR_BLOCK_CHECKSUM("extended attributes", "checksum does not match block"),
  XATTR_REFCOUNT("extended attributes", "block has a wrong reference count"),
  ENCRYPTION_CONTEXT_MISSING("encryption", "encrypt flag but no encryption attribute"),
  ENCRYPTION_CONTEXT_CORRUPT("encryption", "corrupt encryption attribute"),
  INLINE_DATA_MISSING("inline data", "INLINE_DATA_FL flag but extended attribute not found"),
  INLINE_SIZE("inline data", "i_size is not that of the inline data"),
  ORPHAN_LIST("orphans", "the orphan list is corrupt", true),
  ORPHANS_LEFT("orphans", "orphans were not removed yet", true),
  ORPHAN_FILE("orphans", "the orphan file is corrupt or not clean"),
  ORPHAN_FILE_WITHOUT_FEATURE("orphans", "orphan file without the feature orphan_file", true),
  QUOTA_INODE("quota", "invalid quota inode"),
  QUOTA_FILE("quota", "the quota file is corrupt"),
  QUOTA_MAGIC("quota", "the quota file has a bad magic number", true),
  QUOTA_USAGE("quota", "usage inconsistent"),
  JOURNAL_INODE("journal", "superblock has an invalid journal"),
  JOURNAL_SUPERBLOCK("journal", "journal superblock is corrupt"),
  JOURNAL_ERROR("journal", "the journal was aborted"),
  JOURNAL_FEATURES("journal", "journal superblock has an unknown feature flag set"),
  JOURNAL_PLACES("journal", "the log lies outside the journal", true),
  JOURNAL_SHORT("journal", "the journal is shorter than any can be", true),
  JOURNAL_RECOVERY_FLAG("journal", "needs_recovery does not fit the journal", true),
  JOURNAL_WITHOUT_FEATURE("journal", "has_journal flag is clear, but a journal is present", true);

  private final String structure;
  private final String wording;
  private final boolean warning;

  Problem(String structure, String wording) {
    this(structure, wording, false);
  }

  Problem(String structure, String wording, boolean warning) {
    this.structure = structure;
    this.wording = wording;
    this.warning = warning;
  }

  public String structure() {
    return structure;
  }

  public String wording() {
    return wording;
  }

  public boolean warning() {
    return warning;
  }
}
