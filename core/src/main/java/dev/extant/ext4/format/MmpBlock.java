package dev.extant.ext4.format;

import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/// `struct mmp_struct` (Linux documentation, "Multiple Mount Protection"): who uses the file
/// system, in the first 1,024 bytes of the block that s_mmp_block names. [Checksums] seals it.
///
/// | offset | field |
/// | --- | --- |
/// | 0x00 | mmp_magic |
/// | 0x04 | mmp_seq |
/// | 0x08 | mmp_time, seconds |
/// | 0x10 | mmp_nodename[64] |
/// | 0x50 | mmp_bdevname[32] |
/// | 0x70 | mmp_check_interval, seconds |
/// | 0x74 | mmp_pad2[226] |
/// | 0x3FC | mmp_checksum |
public final class MmpBlock {
  public static final int SIZE = 1024;
  public static final int MAGIC = 0x004D_4D50;

  /// mmp_seq: nobody uses the file system.
  public static final long SEQUENCE_CLEAN = 0xFF4D_4D50L;

  /// mmp_seq: a checker is at work.
  public static final long SEQUENCE_FSCK = 0xE24D_4D50L;

  /// mmp_seq: the largest of a mount; they begin at 1.
  public static final long SEQUENCE_MAX = 0xE24D_4D4FL;

  /// The last word of the first sector, which is padding.
  static final int BALANCE = 0x1FC;

  static final int CHECKSUM = 0x3FC;

  private static final int NODE_NAME = 0x10;
  private static final int NODE_NAME_SIZE = 64;
  private static final int DEVICE_NAME = 0x50;
  private static final int DEVICE_NAME_SIZE = 32;

  private MmpBlock() {}

  /// Makes the block of zeroes one that says that nobody uses the file system.
  public static void initialise(MemorySegment block, int checkInterval) {
    Le.put32(block, 0x00, MAGIC);
    sequence(block, SEQUENCE_CLEAN);
    checkInterval(block, checkInterval);
  }

  public static boolean hasMagic(MemorySegment block) {
    return Le.u32(block, 0x00) == MAGIC;
  }

  public static long sequence(MemorySegment block) {
    return Le.u32(block, 0x04);
  }

  public static void sequence(MemorySegment block, long sequence) {
    Le.put32(block, 0x04, sequence);
  }

  /// When the sequence was last changed.
  public static Instant time(MemorySegment block) {
    return Instant.ofEpochSecond(Le.u64(block, 0x08) & 0xff_ffff_ffffL);
  }

  public static void time(MemorySegment block, Instant time) {
    Le.put64(block, 0x08, Math.max(0, time.getEpochSecond()));
  }

  /// The machine that changed it last.
  public static String nodeName(MemorySegment block) {
    return text(block, NODE_NAME, NODE_NAME_SIZE);
  }

  public static void nodeName(MemorySegment block, String name) {
    putText(block, NODE_NAME, NODE_NAME_SIZE, name);
  }

  /// What that machine calls the device.
  public static String deviceName(MemorySegment block) {
    return text(block, DEVICE_NAME, DEVICE_NAME_SIZE);
  }

  public static void deviceName(MemorySegment block, String name) {
    putText(block, DEVICE_NAME, DEVICE_NAME_SIZE, name);
  }

  /// In so many seconds whoever uses the file system changes the sequence at least once.
  public static int checkInterval(MemorySegment block) {
    return Le.u16(block, 0x70);
  }

  public static void checkInterval(MemorySegment block, int seconds) {
    Le.put16(block, 0x70, seconds);
  }

  private static String text(MemorySegment block, int offset, int size) {
    byte[] bytes = new byte[size];
    MemorySegment.copy(block, offset, MemorySegment.ofArray(bytes), 0, size);
    int length = 0;
    while (length < size && bytes[length] != 0) {
      length++;
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }

  /// Cut so that a NUL ends it.
  private static void putText(MemorySegment block, int offset, int size, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    block.asSlice(offset, size).fill((byte) 0);
    int length = Math.min(bytes.length, size - 1);
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, block, offset, length);
  }
}
