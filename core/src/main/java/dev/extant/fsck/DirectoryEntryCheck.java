package dev.extant.fsck;

import dev.extant.ext4.format.DirEntry;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Superblock;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;

/// Checks entries of directories and what they refer to, and counts the references. One thread may
/// use one object; objects share the tree and the counts.
final class DirectoryEntryCheck {
  private static final byte[] DOT = {'.'};
  private static final byte[] DOT_DOT = {'.', '.'};

  /// A name that is encrypted is at least one block of the cipher long.
  private static final int MIN_ENCRYPTED_NAME = 16;

  private static final int DIRECTORY_TYPE = 2;

  /// s_encoding_flags: names in directories that ignore case must be valid.
  private static final int ENCODING_FLAGS = 0x27E;

  private static final int ENCODING_STRICT = 1;

  /// What of an entry with a name must at least lie in the area.
  private static final int MIN_ENTRY = DirEntry.HEADER_SIZE;

  private final CheckContext context;
  private final DirectoryTree tree;
  private final LinkCounts links;
  private final EncryptionPolicies policies;
  private final boolean fileTypes;
  private final boolean strictUtf8;

  DirectoryEntryCheck(
      CheckContext context, DirectoryTree tree, LinkCounts links, EncryptionPolicies policies) {
    this.context = context;
    this.tree = tree;
    this.links = links;
    this.policies = policies;
    this.fileTypes = context.features().has(Feature.FILETYPE);
    this.strictUtf8 =
        context.features().has(Feature.CASEFOLD)
            && (Le.u16(context.superblock(), ENCODING_FLAGS) & ENCODING_STRICT) != 0;
  }

  /// Told of each name of a leaf.
  interface Names {
    void name(byte[] name);
  }

  /// Checks the entries of a block, or of a part of an inode, from byte 0 to its end. `first` says
  /// that they begin with `.` and `..`. False if they are no list of entries.
  boolean check(
      CheckedDirectory directory, MemorySegment area, long blockNr, boolean first, Names visitor) {
    int at = 0;
    int number = first ? 0 : 2;
    while (at < area.byteSize()) {
      if (!fits(area, at)) {
        String text = "at byte " + at;
        context.report(Problem.DIRECTORY_CORRUPT, directory.ino(), blockNr, text);
        return false;
      }
      if (number == 0) {
        checkDot(directory, area, at, blockNr);
      } else if (number == 1) {
        checkDotDot(directory, area, at, blockNr);
      } else if (DirEntry.ino(area, at) != 0) {
        byte[] name = DirEntry.name(area, at);
        visitor.name(name);
        new Named(directory, area, at, blockNr, name).check();
      }
      at += DirEntry.recLen(area, at);
      number++;
    }
    if (first && number < 2) {
      context.report(Problem.DIRECTORY_NO_DOT_DOT, directory.ino(), blockNr, "no second entry");
    }
    return true;
  }

  private boolean fits(MemorySegment area, int at) {
    if (at + MIN_ENTRY > area.byteSize()) {
      return false;
    }
    int length = DirEntry.recLen(area, at);
    return length >= DirEntry.MIN_RECORD_LENGTH
        && length % 4 == 0
        && DirEntry.HEADER_SIZE + DirEntry.nameLength(area, at) <= length
        && at + length <= area.byteSize();
  }

  private void checkDot(CheckedDirectory directory, MemorySegment area, int at, long blockNr) {
    long ino = DirEntry.ino(area, at);
    if (ino == 0 || !isName(area, at, DOT)) {
      context.report(Problem.DIRECTORY_NO_DOT, directory.ino(), blockNr, "");
    } else if (Le.u8(area, at + 9) != 0) {
      context.report(Problem.DIRECTORY_DOT_NAME, directory.ino(), blockNr, "'.'");
    }
    if (ino != directory.ino()) {
      String text = "it is " + ino;
      context.report(Problem.DIRECTORY_DOT_INODE, directory.ino(), blockNr, text);
    }
    checkType(directory, area, at, blockNr, DOT);
    count(ino);
  }

  private void checkDotDot(CheckedDirectory directory, MemorySegment area, int at, long blockNr) {
    long ino = DirEntry.ino(area, at);
    if (ino == 0 || !isName(area, at, DOT_DOT)) {
      context.report(Problem.DIRECTORY_NO_DOT_DOT, directory.ino(), blockNr, "");
    } else if (Le.u8(area, at + 10) != 0) {
      context.report(Problem.DIRECTORY_DOT_NAME, directory.ino(), blockNr, "'..'");
    }
    if (parent(directory, ino, blockNr)) {
      checkType(directory, area, at, blockNr, DOT_DOT);
    }
  }

  /// Notes the parent that a directory names. True if it is an inode in use.
  boolean parent(CheckedDirectory directory, long ino, long blockNr) {
    tree.dotDot(directory.index, ino);
    count(ino);
    if (ino == 0 || checkTarget(directory, ino, blockNr, DOT_DOT)) {
      return ino != 0;
    }
    return false;
  }

  /// Counts the reference to itself of a directory that has no entry for it.
  void self(CheckedDirectory directory) {
    count(directory.ino());
  }

  private void count(long ino) {
    if (context.layout().validInode(ino)) {
      links.addReference(ino);
    }
  }

  private static boolean isName(MemorySegment area, int at, byte[] name) {
    return DirEntry.nameLength(area, at) == name.length
        && Arrays.equals(DirEntry.name(area, at), name);
  }

  private boolean checkTarget(CheckedDirectory directory, long ino, long blockNr, byte[] name) {
    boolean hidden =
        ino != Superblock.ROOT_INO && ino < context.layout().firstInode()
            || SpecialInodes.isHidden(context, ino);
    if (hidden || !context.layout().validInode(ino)) {
      report(Problem.ENTRY_INODE, directory, blockNr, name, "it is " + ino);
      return false;
    }
    if (!context.inodes().used(ino)) {
      report(Problem.ENTRY_UNUSED_INODE, directory, blockNr, name, "it is " + ino);
      return false;
    }
    return true;
  }

  private void checkType(
      CheckedDirectory directory, MemorySegment area, int at, long blockNr, byte[] name) {
    int code = DirEntry.typeCode(area, at);
    int expected = fileTypes ? context.inodes().type(DirEntry.ino(area, at)) : 0;
    if (code != expected && code != 0) {
      String text = "it is " + code + ", should be " + expected;
      report(Problem.ENTRY_TYPE, directory, blockNr, name, text);
    }
  }

  private void report(
      Problem problem, CheckedDirectory directory, long blockNr, byte[] name, String detail) {
    String text = "'" + printable(name) + "'" + (detail.isEmpty() ? "" : ", " + detail);
    context.report(problem, directory.ino(), blockNr, text);
  }

  private static String printable(byte[] name) {
    String text = new String(name, StandardCharsets.UTF_8);
    return text.chars().allMatch(c -> c >= ' ' && c != 0x7f && c != 0xfffd)
        ? text
        : HexFormat.of().formatHex(name);
  }

  private static boolean illegal(byte[] name) {
    for (byte octet : name) {
      if (octet == 0 || octet == '/') {
        return true;
      }
    }
    return false;
  }

  private static boolean utf8(byte[] name) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(name));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }

  /// An entry that is neither of the first two.
  private final class Named {
    private final CheckedDirectory directory;
    private final MemorySegment area;
    private final int at;
    private final long blockNr;
    private final byte[] name;
    private final long ino;

    Named(CheckedDirectory directory, MemorySegment area, int at, long blockNr, byte[] name) {
      this.directory = directory;
      this.area = area;
      this.at = at;
      this.blockNr = blockNr;
      this.name = name;
      this.ino = DirEntry.ino(area, at);
    }

    void check() {
      checkName();
      if (!checkTarget(directory, ino, blockNr, name)) {
        return;
      }
      checkType(directory, area, at, blockNr, name);
      if (context.inodes().has(ino, InodeStates.EA_INODE)
          && AttributeInodes.possible(context, ino)) {
        tell(Problem.ENTRY_EA_INODE, "inode " + ino);
        return;
      }
      count(ino);
      if (ino == directory.ino() || ino == Superblock.ROOT_INO) {
        tell(Problem.ENTRY_LINK_TO_DIRECTORY, "inode " + ino);
      } else if (context.inodes().directory(ino)) {
        tree.entry(ino, directory.ino());
      }
      checkPolicy();
    }

    private void checkName() {
      if (name.length == 0) {
        tell(Problem.ENTRY_NO_NAME, "");
        return;
      }
      boolean dots = isName(area, at, DOT) || isName(area, at, DOT_DOT);
      if (dots || directory.names.addAgain(comparable())) {
        tell(Problem.ENTRY_DUPLICATE, "");
      }
      if (directory.encrypted()) {
        if (name.length < MIN_ENCRYPTED_NAME) {
          tell(Problem.ENTRY_ENCRYPTED_SHORT, name.length + " bytes");
        }
        return;
      }
      if (illegal(name) || strictUtf8 && directory.casefolded() && !utf8(name)) {
        tell(Problem.ENTRY_NAME, "");
      }
    }

    /// The name without what is ignored when names are compared. Close to the tables of Unicode
    /// that the feature casefold uses: names that differ in more than their case stay different.
    private byte[] comparable() {
      if (!strictUtf8 || !directory.casefolded() || directory.encrypted() || !utf8(name)) {
        return name;
      }
      String text = new String(name, StandardCharsets.UTF_8);
      return Normalizer.normalize(text, Normalizer.Form.NFD)
          .toLowerCase(Locale.ROOT)
          .getBytes(StandardCharsets.UTF_8);
    }

    private void checkPolicy() {
      int type = context.inodes().type(ino);
      if (!directory.encrypted() || type != 1 && type != DIRECTORY_TYPE && type != 7) {
        return;
      }
      int own = policies.of(directory.ino());
      int of = policies.of(ino);
      if (of == EncryptionPolicies.NONE) {
        tell(Problem.ENTRY_NOT_ENCRYPTED, "inode " + ino);
      } else if (own != EncryptionPolicies.NONE && own != of) {
        tell(Problem.ENTRY_ENCRYPTION_POLICY, "inode " + ino);
      }
    }

    private void tell(Problem problem, String detail) {
      report(problem, directory, blockNr, name, detail);
    }
  }
}
