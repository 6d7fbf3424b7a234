package dev.extant.ext4;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.block.FencedDevice;
import dev.extant.block.RequestQueue;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.MmpBlock;
import dev.extant.ext4.format.Superblock;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

/// Keeps a file system with the feature mmp from being written by two machines at a time.
///
/// Whoever writes it changes a sequence number in the MMP block every few seconds, the *update
/// interval*, and says there after how many seconds at most, the *check interval*. Who wants to
/// write it and finds neither [MmpBlock#SEQUENCE_CLEAN] nor a number that stands still for two
/// check intervals keeps away.
///
/// Invariants:
/// 1. Before anything else is written the MMP block holds our number.
/// 2. Before each change of the number it is read again. If it is not ours, another owner has taken
///    over: the device is fenced, so that not one more byte is written, and the mount is told.
/// 3. The number becomes CLEAN after everything else was written, unless the device is fenced.
///
/// The first sector holds all that changes ([Checksums#sealMmpBlock]), so a power cut leaves an
/// older block or a newer one. One with a wrong checksum is taken for a number that may stand
/// still.
final class MultiMountProtection implements Closeable {
  private static final int DEFAULT_UPDATE_SECONDS = 5;
  private static final int MIN_CHECK_SECONDS = 5;
  private static final int MAX_CHECK_SECONDS = 300;

  /// However long the check interval is, no wait is longer than it and a minute.
  private static final int MAX_EXTRA_SECONDS = 60;

  private static final Path LINUX_HOST_NAME = Path.of("/proc/sys/kernel/hostname");

  /// How time passes.
  interface Sleeper {
    void sleep(Duration duration) throws InterruptedException;
  }

  private final FencedDevice device;
  private final RequestQueue queue;
  private final Checksums checksums;
  private final InstantSource clock;
  private final Sleeper sleeper;
  private final long offset;
  private final int updateSeconds;
  private final MemorySegment block = MemorySegment.ofArray(new byte[MmpBlock.SIZE]);
  private Thread updater;
  private volatile boolean stopping;

  /// Guarded by this, as `listener`. Null while the device is ours.
  private DeviceException fenced;

  private Consumer<DeviceException> listener;

  private MultiMountProtection(
      BlockDevice device, MemorySegment superblock, InstantSource clock, Sleeper sleeper)
      throws FsException {
    this.device = new FencedDevice(device);
    this.checksums = new Checksums(superblock);
    this.clock = clock;
    this.sleeper = sleeper;
    long blockNr = Superblock.mmpBlock(superblock);
    int blockSizeBytes = Superblock.geometry(superblock, device.sizeBytes()).blockSizeBytes();
    if (!Superblock.geometry(superblock, device.sizeBytes()).validDataBlock(blockNr)) {
      throw new FsException(
          Errno.EUCLEAN, device.name() + ": there is no block " + blockNr + ", the MMP block");
    }
    this.offset = blockNr * blockSizeBytes;
    int interval = Superblock.mmpUpdateInterval(superblock);
    this.updateSeconds = interval == 0 ? DEFAULT_UPDATE_SECONDS : interval;
    this.queue = new RequestQueue(this.device, 2, 1);
  }

  /// Takes the file system for this process, and keeps it until [#close]; null if it has not the
  /// feature. May have to wait; an interrupt ends that. EBUSY if somebody else has it.
  static MultiMountProtection claim(
      BlockDevice device, MemorySegment superblock, InstantSource clock, Sleeper sleeper)
      throws IOException {
    if (!Superblock.features(superblock).has(Feature.MMP)) {
      return null;
    }
    MultiMountProtection protection = new MultiMountProtection(device, superblock, clock, sleeper);
    boolean claimed = false;
    try {
      protection.claim();
      claimed = true;
    } finally {
      if (!claimed) {
        protection.queue.close();
      }
    }
    return protection;
  }

  /// The device to use as long as this is open.
  BlockDevice device() {
    return device;
  }

  private void claim() throws IOException {
    read(block);
    if (!MmpBlock.hasMagic(block)) {
      throw new FsException(
          Errno.EUCLEAN,
          device.name() + ": the MMP block is corrupt (no magic); run e2fsck on the file system");
    }
    boolean intact = checksums.mmpBlockValid(block);
    long sequence = MmpBlock.sequence(block);
    if (intact && sequence == MmpBlock.SEQUENCE_FSCK) {
      throw new FsException(
          Errno.EBUSY,
          device.name() + " is being checked by " + owner(block) + ", as its MMP block says");
    }
    Duration wait = Duration.ZERO;
    if (!intact || sequence != MmpBlock.SEQUENCE_CLEAN) {
      wait = waitingTime(intact ? MmpBlock.checkInterval(block) : 0);
      await(wait);
    }
    MmpBlock.nodeName(block, nodeName());
    MmpBlock.deviceName(block, shortName());
    MmpBlock.checkInterval(block, leastCheckSeconds());
    write(ThreadLocalRandom.current().nextLong(1, MmpBlock.SEQUENCE_MAX + 1));
    await(wait);
    updater = new Thread(this::keep, "extant-mmp-" + device.name());
    updater.setDaemon(true);
    updater.start();
  }

  private int leastCheckSeconds() {
    return Math.clamp(2L * updateSeconds, MIN_CHECK_SECONDS, MAX_CHECK_SECONDS);
  }

  /// Two check intervals and something.
  private Duration waitingTime(int checkSeconds) {
    int seconds = Math.max(leastCheckSeconds(), Math.min(checkSeconds, MAX_CHECK_SECONDS));
    return Duration.ofSeconds(Math.min(2L * seconds + 1, seconds + MAX_EXTRA_SECONDS));
  }

  /// EBUSY if the block has changed after that time.
  private void await(Duration wait) throws IOException {
    if (!wait.isZero()) {
      try {
        sleeper.sleep(wait);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new FsException(
            Errno.EINTR,
            "interrupted while waiting to see whether " + owner(block) + " uses " + device.name(),
            e);
      }
    }
    MemorySegment now = MemorySegment.ofArray(new byte[MmpBlock.SIZE]);
    read(now);
    if (now.mismatch(block) >= 0) {
      throw new FsException(Errno.EBUSY, device.name() + " is in use by " + owner(now));
    }
  }

  private static String owner(MemorySegment block) {
    return "node '"
        + MmpBlock.nodeName(block)
        + "', which calls it '"
        + MmpBlock.deviceName(block)
        + "'";
  }

  /// Asking for the address may take long where names are not served.
  private static String nodeName() {
    try {
      return Files.readString(LINUX_HOST_NAME).strip();
    } catch (IOException notLinux) {
      return nodeNameByAddress();
    }
  }

  private static String nodeNameByAddress() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "localhost";
    }
  }

  private String shortName() {
    Path fileName = Path.of(device.name()).getFileName();
    return fileName == null ? device.name() : fileName.toString();
  }

  private void read(MemorySegment target) throws DeviceException {
    queue.read(offset, target);
  }

  private void write(long sequence) throws DeviceException {
    MmpBlock.sequence(block, sequence);
    MmpBlock.time(block, clock.instant());
    checksums.sealMmpBlock(block);
    queue.write(offset, List.of(block), true);
  }

  /// The updater's loop.
  private void keep() {
    long before = System.nanoTime();
    try {
      while (!stopping) {
        sleeper.sleep(Duration.ofSeconds(updateSeconds));
        checkOwner();
        // Others have to be patient with a machine that is slow.
        long seconds = Duration.ofNanos(System.nanoTime() - before).toSeconds();
        before = System.nanoTime();
        MmpBlock.checkInterval(
            block, Math.clamp(2 * seconds, leastCheckSeconds(), MAX_CHECK_SECONDS));
        write(MmpBlock.sequence(block) % MmpBlock.SEQUENCE_MAX + 1);
      }
    } catch (InterruptedException e) {
      // It is over: see close().
    } catch (DeviceException e) {
      lost(e);
    }
  }

  private void checkOwner() throws DeviceException {
    MemorySegment now = MemorySegment.ofArray(new byte[MmpBlock.SIZE]);
    read(now);
    if (now.mismatch(block) >= 0) {
      throw new DeviceException(
          DeviceException.Kind.FENCED,
          DeviceException.Operation.WRITE,
          device.name(),
          offset,
          MmpBlock.SIZE,
          "the file system was taken over by " + owner(now),
          null);
    }
  }

  /// Nobody can tell any more that the file system is in use here, or it is not.
  private void lost(DeviceException cause) {
    device.fence(cause);
    Consumer<DeviceException> told;
    synchronized (this) {
      fenced = cause;
      told = listener;
    }
    if (told != null) {
      told.accept(cause);
    }
  }

  /// Tells `newListener` if the file system is lost, now or later.
  void whenLost(Consumer<DeviceException> newListener) {
    DeviceException cause;
    synchronized (this) {
      listener = newListener;
      cause = fenced;
    }
    if (cause != null) {
      newListener.accept(cause);
    }
  }

  /// Gives the file system back. Everything else was written.
  @Override
  public void close() throws IOException {
    stopping = true;
    updater.interrupt();
    boolean interrupted = false;
    while (updater.isAlive()) {
      try {
        updater.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    try {
      if (!isLost()) {
        checkOwner();
        write(MmpBlock.SEQUENCE_CLEAN);
      }
    } finally {
      queue.close();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private synchronized boolean isLost() {
    return fenced != null;
  }
}
