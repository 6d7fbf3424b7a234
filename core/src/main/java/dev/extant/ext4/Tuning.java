package dev.extant.ext4;

import dev.extant.block.BlockDevice;
import dev.extant.cache.Buffer;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupLayout;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.Handle;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.TuneOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/// Changes what the superblock says of a file system that is not mounted: its name, its reserve,
/// when it is to be checked; and adds a journal.
final class Tuning {
  private static final int LABEL_SIZE = 16;
  private static final int MAX_MOUNT_COUNT = 0x7FFF;
  private static final double MAX_RESERVED_SHARE = 0.5;

  private final BlockDevice device;
  private final TuneOptions options;
  private final MountOptions mountOptions;

  Tuning(BlockDevice device, TuneOptions options, MountOptions mountOptions) {
    this.device = device;
    this.options = options;
    this.mountOptions = mountOptions;
  }

  void run() throws IOException {
    requireSensible();
    if (options.journalMebibytes() != null) {
      NewJournal.add(new BorrowedDevice(device), options.journalMebibytes(), mountOptions);
    }
    try (OfflineEdit edit = OfflineEdit.open(device, mountOptions)) {
      tune(edit);
      edit.done();
    }
  }

  private void requireSensible() throws FsException {
    if (options.label() != null
        && options.label().getBytes(StandardCharsets.UTF_8).length > LABEL_SIZE) {
      throw invalid("the label \"" + options.label() + "\" is longer than 16 bytes");
    }
    if (options.mountCount() != null) {
      requireRange("mount count", options.mountCount(), 0, MAX_MOUNT_COUNT);
    }
    if (options.maxMountCount() != null) {
      requireRange("greatest mount count", options.maxMountCount(), -1, MAX_MOUNT_COUNT);
    }
    if (options.checkIntervalSeconds() != null) {
      requireRange("check interval", options.checkIntervalSeconds(), 0, 0xffff_ffffL);
    }
    if (options.reservedPercent() != null
        && !(options.reservedPercent() >= 0 && options.reservedPercent() <= 50)) {
      throw invalid("reserved blocks of " + options.reservedPercent() + " % are not 0 to 50 %");
    }
  }

  private void requireRange(String what, long value, long least, long most) throws FsException {
    if (value < least || value > most) {
      throw invalid("the " + what + " " + value + " is not " + least + " to " + most);
    }
  }

  private FsException invalid(String reason) {
    return new FsException(Errno.EINVAL, device.name() + ": " + reason);
  }

  private void tune(OfflineEdit edit) throws IOException {
    MemorySegment bytes = edit.superblockBytes();
    long reserved = reservedBlocks(bytes);
    boolean newUuid = options.uuid() != null && !options.uuid().equals(Superblock.uuid(bytes));
    if (newUuid) {
      requireUuidChangeable(Superblock.features(bytes));
    }
    int descriptors = newUuid ? descriptorBlocks(bytes) : 0;
    edit.change(
        1 + descriptors,
        handle -> {
          edit.superblock.edit(handle, sb -> apply(sb, reserved, newUuid));
          if (descriptors > 0) {
            sealDescriptors(edit, handle);
          }
        });
    if (options.mountCount() != null) {
      edit.mountCount(options.mountCount());
    }
    edit.writeBackups();
  }

  private long reservedBlocks(MemorySegment bytes) throws FsException {
    long blocksCount = Superblock.blocksCount(bytes);
    if (options.reservedPercent() != null) {
      return (long) (blocksCount * options.reservedPercent() / 100);
    }
    if (options.reservedBlocks() == null) {
      return Superblock.reservedBlocks(bytes);
    }
    requireRange(
        "number of reserved blocks",
        options.reservedBlocks(),
        0,
        (long) (blocksCount * MAX_RESERVED_SHARE));
    return options.reservedBlocks();
  }

  private void apply(MemorySegment sb, long reserved, boolean newUuid) {
    if (options.label() != null) {
      Superblock.label(sb, options.label());
    }
    if (newUuid) {
      changeUuid(sb, options.uuid());
    }
    Superblock.reservedBlocks(sb, reserved);
    if (options.maxMountCount() != null) {
      Superblock.maxMountCount(sb, options.maxMountCount());
    }
    if (options.checkIntervalSeconds() != null) {
      Superblock.checkIntervalSeconds(sb, options.checkIntervalSeconds());
    }
    if (options.onError() != null) {
      Superblock.errors(
          sb,
          switch (options.onError()) {
            case CONTINUE -> Superblock.ERRORS_CONTINUE;
            case REMOUNT_RO -> Superblock.ERRORS_READ_ONLY;
            case PANIC -> Superblock.ERRORS_PANIC;
          });
    }
  }

  /// All checksums begin with one of the UUID. With metadata_csum_seed the superblock keeps that
  /// value, so that nothing else has to change.
  private static void changeUuid(MemorySegment sb, UUID uuid) {
    Features features = Superblock.features(sb);
    if (features.has(Feature.METADATA_CSUM) && !features.has(Feature.METADATA_CSUM_SEED)) {
      Superblock.checksumSeed(sb, new Checksums(sb).seed());
      Superblock.features(sb, features.with(Feature.METADATA_CSUM_SEED));
    }
    Superblock.uuid(sb, uuid);
  }

  private void requireUuidChangeable(Features features) throws FsException {
    if (features.has(Feature.EA_INODE) && !features.has(Feature.METADATA_CSUM)) {
      throw new FsException(
          Errno.EOPNOTSUPP,
          device.name()
              + ": the UUID cannot be changed with ea_inode and without metadata_csum, since all"
              + " values are hashed with it");
    }
    if (features.has(Feature.STABLE_INODES)) {
      throw new FsException(
          Errno.EOPNOTSUPP,
          device.name() + ": the UUID cannot be changed with stable_inodes, which promises it");
    }
  }

  /// How many blocks of descriptors have checksums made with the UUID itself (crc16).
  private static int descriptorBlocks(MemorySegment bytes) throws FsException {
    Features features = Superblock.features(bytes);
    if (!features.has(Feature.UNINIT_BG) || features.has(Feature.METADATA_CSUM)) {
      return 0;
    }
    return GroupLayout.descriptorBlocks(Superblock.geometry(bytes, Long.MAX_VALUE));
  }

  private static void sealDescriptors(OfflineEdit edit, Handle handle) throws IOException {
    MemorySegment bytes = edit.superblockBytes();
    Geometry geometry = Superblock.geometry(bytes, Long.MAX_VALUE);
    GroupLayout layout = new GroupLayout(bytes, geometry);
    Checksums checksums = new Checksums(bytes);
    int size = geometry.descriptorSizeBytes();
    for (int index = 0; index < layout.descriptorBlocks(); index++) {
      try (Buffer buffer = edit.buffers.read(layout.descriptorBlockNrAt(index))) {
        handle.writeAccess(buffer);
        int first = index * geometry.descriptorsPerBlock();
        int limit = Math.min(first + geometry.descriptorsPerBlock(), geometry.groupCount());
        for (int group = first; group < limit; group++) {
          checksums.sealDescriptor(
              buffer.data().asSlice(layout.descriptorOffset(group), size), group);
        }
        handle.dirty(buffer);
      }
    }
  }
}
