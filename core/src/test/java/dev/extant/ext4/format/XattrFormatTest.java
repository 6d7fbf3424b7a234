package dev.extant.ext4.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.extant.util.Le;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Attributes in inodes and blocks, against bytes that Linux 6.18 wrote and e2fsck accepts.
final class XattrFormatTest {
  private static final int USER = XattrEntry.EXT4_XATTR_INDEX_USER;
  private static final long SEED = Long.getLong("extant.seed", 20261201);

  /// `user.big` and `user.éx`, 200 times `x` each.
  private static final String BLOCK_HEAD =
      "000002ea010000000100000059194485ab4f7681000000000000000000000000"
          + "0301380300000000c80000004785010062696700"
          + "0301700200000000c800000058190300c3a97800";

  /// `user.ab` and `user.é`, both `hello`, behind 32 bytes of extra fields.
  private static final String BODY =
      "000002ea"
          + "0201540000000000050000000000000061620000"
          + "02014c00000000000500000000000000c3a90000";

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static Xattr user(String name, String value) {
    return Xattr.of(USER, bytes(name), bytes(value));
  }

  private static MemorySegment inode(int size, int extraIsize) {
    MemorySegment inode = MemorySegment.ofArray(new byte[size]);
    RawInode.extraIsize(inode, extraIsize);
    return inode;
  }

  private static MemorySegment goldenBlock() {
    byte[] block = new byte[1024];
    byte[] head = HexFormat.of().parseHex(BLOCK_HEAD);
    System.arraycopy(head, 0, block, 0, head.length);
    Arrays.fill(block, 0x270, 0x400, (byte) 'x');
    return MemorySegment.ofArray(block);
  }

  private static MemorySegment goldenInode() {
    MemorySegment inode = inode(256, 32);
    MemorySegment body = MemorySegment.ofArray(HexFormat.of().parseHex(BODY));
    MemorySegment.copy(body, 0, inode, 160, body.byteSize());
    for (int at : new int[] {240, 248}) {
      MemorySegment.copy(MemorySegment.ofArray(bytes("hello")), 0, inode, at, 5);
    }
    return inode;
  }

  @Test
  void blockOfLinux() throws FsException {
    MemorySegment block = goldenBlock();
    List<Xattr> xattrs = XattrBlock.read(block, 7);
    String value = "x".repeat(200);
    assertThat(xattrs).containsExactly(user("big", value), user("éx", value));
    assertThat(xattrs).allMatch(xattr -> XattrEntry.hashValid(xattr, 0));
    assertThat(XattrBlock.hashValid(block, xattrs)).isTrue();

    MemorySegment written = MemorySegment.ofArray(new byte[1024]);
    written.fill((byte) 0x5A);
    XattrBlock.write(written, List.of(user("éx", value), user("big", value)));
    XattrBlock.refcount(written, 1);
    Le.put32(written, XattrBlock.H_CHECKSUM, Le.u32(block, XattrBlock.H_CHECKSUM));
    assertThat(written.mismatch(block)).isEqualTo(-1);
  }

  @Test
  void inodeOfLinux() throws FsException {
    MemorySegment golden = goldenInode();
    assertThat(XattrBody.read(golden, 12)).containsExactly(user("ab", "hello"), user("é", "hello"));
    MemorySegment inode = inode(256, 32);
    assertThat(XattrBody.put(inode, 12, user("ab", "hello"))).isTrue();
    assertThat(XattrBody.put(inode, 12, user("é", "hello"))).isTrue();
    assertThat(inode.mismatch(golden)).isEqualTo(-1);
  }

  @Test
  void hashesOfSignedBytesAreAccepted() throws FsException {
    // With signed bytes 0xA9 is -87, so that the upper bits differ.
    int signed = Integer.rotateLeft((byte) 0xC3, 5) ^ (byte) 0xA9;
    int unsigned = XattrEntry.hash(bytes("é"), new byte[0]);
    for (int hash : new int[] {signed, unsigned}) {
      Xattr xattr = new Xattr(USER, bytes("é"), new byte[0], 0, 0, hash);
      assertThat(XattrEntry.hashValid(xattr, 0)).isTrue();
      MemorySegment block = MemorySegment.ofArray(new byte[1024]);
      XattrBlock.write(block, List.of(xattr));
      assertThat(XattrBlock.read(block, 1).getFirst().hash()).isEqualTo(hash);
    }
    assertThat(XattrEntry.hashValid(new Xattr(USER, bytes("é"), new byte[0], 0, 0, signed + 1), 0))
        .isFalse();
  }

  @Test
  void fillsTheRoomOfAnInodeExactly() throws FsException {
    MemorySegment inode = inode(256, 32);
    // 96 bytes: 4 for the magic, 4 behind the entries.
    assertThat(XattrBody.room(inode, 12, USER, bytes("name"))).isEqualTo(88 - 20);
    assertThat(XattrBody.put(inode, 12, user("name", "v".repeat(69)))).isFalse();
    assertThat(XattrBody.read(inode, 12)).isEmpty();
    assertThat(XattrBody.put(inode, 12, user("name", "v".repeat(68)))).isTrue();
    assertThat(XattrBody.room(inode, 12, USER, bytes("name"))).isEqualTo(68);
    assertThat(XattrBody.room(inode, 12, USER, bytes("other"))).isEqualTo(-1);
    assertThat(XattrBody.put(inode, 12, user("name", "v"))).isTrue();
    assertThat(XattrBody.room(inode, 12, USER, bytes("other"))).isEqualTo(88 - 24 - 24);
    assertThat(XattrBody.find(inode, 12, USER, bytes("name"))).isEqualTo(user("name", "v"));
    assertThat(XattrBody.remove(inode, 12, USER, bytes("none"))).isFalse();
    assertThat(XattrBody.remove(inode, 12, USER, bytes("name"))).isTrue();
    assertThat(XattrBody.hasMagic(inode)).isFalse();
  }

  @Test
  void smallInodesHaveNoRoom() throws FsException {
    for (MemorySegment inode :
        List.of(MemorySegment.ofArray(new byte[128]), inode(256, 0), inode(256, 124))) {
      assertThat(XattrBody.room(inode, 12, USER, bytes("a"))).isEqualTo(-1);
      assertThat(XattrBody.put(inode, 12, user("a", ""))).isFalse();
      assertThat(XattrBody.read(inode, 12)).isEmpty();
    }
  }

  @Test
  void damageIsNamed() {
    // Offset in the inode, 16 bits there, what is said.
    Object[][] damages = {
      {164, 0x01FF, "the extended attribute at 164 reaches beyond the end"},
      {166, 0x58, "has its value of 5 bytes at 252, where none can be"},
      {166, 0x28, "has its value of 5 bytes at 204, where none can be"},
      {166, 0x50, "have their values at 240 and 244, one on the other"},
      {174, 0x101, "has a value of 16842757 bytes"},
      {180, 0x6100, "has a zero byte in its name"},
    };
    for (Object[] damage : damages) {
      MemorySegment inode = goldenInode();
      Le.put16(inode, (int) damage[0], (int) damage[1]);
      assertThatThrownBy(() -> XattrBody.read(inode, 12))
          .isInstanceOfSatisfying(
              FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EUCLEAN))
          .hasMessageStartingWith("inode 12: ")
          .hasMessageContaining((String) damage[2]);
    }
  }

  @Test
  void editsKeepEverythingElse() throws FsException {
    Random random = new Random(SEED);
    for (int round = 0; round < 300; round++) {
      MemorySegment inode = inode(1024, 32);
      List<Xattr> expected = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        byte[] name = bytes("n" + "a".repeat(random.nextInt(9)));
        byte[] value = new byte[random.nextInt(200)];
        random.nextBytes(value);
        int room = XattrBody.room(inode, 1, USER, name);
        boolean done = XattrBody.put(inode, 1, Xattr.of(USER, name, value));
        assertThat(done).as("seed %d, round %d", SEED, round).isEqualTo(value.length <= room);
        if (done) {
          expected.removeIf(xattr -> xattr.named(USER, name));
          expected.add(Xattr.of(USER, name, value));
        }
        assertThat(XattrBody.read(inode, 1)).containsExactlyInAnyOrderElementsOf(expected);
      }
    }
  }

  @Test
  void flippedBits() {
    int refused = 0;
    for (int round = 0; round < 30_000; round++) {
      Random random = new Random(SEED + round);
      MemorySegment area = round % 2 == 0 ? goldenBlock() : goldenInode();
      for (int i = random.nextInt(4); i >= 0; i--) {
        int bit = random.nextInt(8 * 80) + (round % 2 == 0 ? 0 : 8 * 128);
        Le.put8(area, bit / 8, Le.u8(area, bit / 8) ^ 1 << bit % 8);
      }
      try {
        List<Xattr> xattrs = round % 2 == 0 ? XattrBlock.read(area, 7) : XattrBody.read(area, 12);
        xattrs.forEach(xattr -> XattrEntry.hashValid(xattr, 0));
      } catch (FsException e) {
        assertThat(e.errno()).isEqualTo(Errno.EUCLEAN);
        refused++;
      } catch (RuntimeException e) {
        fail("seed " + SEED + ", round " + round, e);
      }
    }
    assertThat(refused).isBetween(5_000, 29_000);
  }
}
