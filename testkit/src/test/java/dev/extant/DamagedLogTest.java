package dev.extant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.RamDevice;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.format.JournalSuperblock;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.util.Be;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;

/// A log whose durable transactions cannot be read any more, or that an earlier mount left with an
/// error.
class DamagedLogTest {
  private static final int BLOCK_SIZE = 4096;
  private static final long JOURNAL_MAGIC = 0xC03B3998L;
  private static final int DESCRIPTOR_BLOCK = 1;
  private static final int SUPERBLOCK_V2 = 4;
  private static final int S_ERRNO = 0x20;

  /// What a killed mount leaves: some durable files, their metadata only in the log.
  private static RamDevice crashed() throws IOException {
    RamDevice device = new RamDevice("ram", 32L << 20);
    Mkfs.make(device, MkfsOptions.builder().blockSizeBytes(BLOCK_SIZE).build());
    RamDevice copy = new RamDevice("copy", device.sizeBytes());
    try (Extant mount = Extant.open(device, MountOptions.defaults())) {
      for (int i = 0; i < 3; i++) {
        Files.writeString(mount.fileSystem().getPath("/file" + i), "content");
        mount.volume().sync();
      }
      copy.memory().copyFrom(device.memory());
    }
    return copy;
  }

  private static long find(MemorySegment memory, int blockType) {
    for (long at = 0; at < memory.byteSize(); at += BLOCK_SIZE) {
      if (Be.u32(memory, at) == JOURNAL_MAGIC && Be.u32(memory, at + 4) == blockType) {
        return at;
      }
    }
    throw new AssertionError("no journal block of type " + blockType);
  }

  @Test
  void refusesToWriteOverADamagedDurableTransactionButShowsWhatIsLeft() throws IOException {
    RamDevice device = crashed();
    MemorySegment memory = device.memory();
    long logged = find(memory, DESCRIPTOR_BLOCK) + BLOCK_SIZE;
    Be.put32(memory, logged + 100, ~Be.u32(memory, logged + 100));
    byte[] before = memory.toArray(ValueLayout.JAVA_BYTE);
    RamDevice second = new RamDevice("second", device.sizeBytes());
    second.memory().copyFrom(memory);

    assertThatThrownBy(() -> Extant.open(second, MountOptions.defaults()))
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EUCLEAN))
        .hasMessageContaining("transaction")
        .hasMessageContaining("run e2fsck");
    try (Extant mount = Extant.open(device, MountOptions.defaults().withReadOnly(true))) {
      assertThat(mount.mountReport().warnings()).hasSize(1);
      assertThat(Files.exists(mount.fileSystem().getPath("/lost+found"))).isTrue();
      assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);
    }
  }

  @Test
  void takesOverTheErrorThatTheJournalRecorded() throws IOException {
    RamDevice device = crashed();
    MemorySegment memory = device.memory();
    long journal = find(memory, SUPERBLOCK_V2);
    Be.put32(memory, journal + S_ERRNO, -5);
    JournalSuperblock.seal(memory.asSlice(journal, 1024));
    try (Extant mount = Extant.open(device, MountOptions.defaults())) {
      assertThat(mount.mountReport().warnings()).singleElement().asString().contains("-5");
      assertThat(Files.readString(mount.fileSystem().getPath("/file2"))).isEqualTo("content");
      MemorySegment superblock = memory.asSlice(Superblock.OFFSET, Superblock.SIZE);
      assertThat(Superblock.state(superblock) & Superblock.STATE_ERRORS).isNotZero();
      assertThat(Be.u32(memory, journal + S_ERRNO)).isZero();
    }
  }
}
