package dev.extant.nio;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// File locks within the JVM.
@Timeout(30)
interface NioLockContract extends NioFixture {
  private Path file() throws IOException {
    return Files.writeString(path("file"), "abc");
  }

  @Test
  default void rangesOfLocks() throws IOException {
    try (FileChannel channel = FileChannel.open(file(), READ, WRITE)) {
      FileLock lock = channel.lock(10, 5, true);
      assertThat(lock.position()).isEqualTo(10);
      assertThat(lock.size()).isEqualTo(5);
      assertThat(lock.isShared()).isTrue();
      assertThat(lock.acquiredBy()).isSameAs(channel);
      assertThat(lock.channel()).isSameAs(channel);
      assertThat(lock.overlaps(14, 1)).isTrue();
      assertThat(lock.overlaps(15, 1)).isFalse();
      for (long[] overlapping : new long[][] {{14, 1}, {0, 11}, {12, 1}, {0, Long.MAX_VALUE}}) {
        assertThatExceptionOfType(OverlappingFileLockException.class)
            .isThrownBy(() -> channel.tryLock(overlapping[0], overlapping[1], true));
      }
      for (long[] beside : new long[][] {{0, 10}, {15, 1}}) {
        channel.tryLock(beside[0], beside[1], true).close();
      }
      assertThatIllegalArgumentException().isThrownBy(() -> channel.lock(-1, 1, false));
      assertThatIllegalArgumentException().isThrownBy(() -> channel.lock(0, -1, false));
      assertThatIllegalArgumentException().isThrownBy(() -> channel.lock(Long.MAX_VALUE, 1, false));
      lock.release();
      lock.release();
      assertThat(lock.isValid()).isFalse();
      assertThat(channel.tryLock(14, 1, false).isValid()).isTrue();
    }
  }

  @Test
  default void modesOfLocks() throws IOException {
    file();
    try (FileChannel reader = FileChannel.open(path("file"), READ);
        FileChannel writer = FileChannel.open(path("file"), WRITE)) {
      assertThatExceptionOfType(NonWritableChannelException.class)
          .isThrownBy(() -> reader.tryLock(0, 1, false));
      assertThatExceptionOfType(NonReadableChannelException.class)
          .isThrownBy(() -> writer.tryLock(0, 1, true));
      assertThat(reader.tryLock(0, 1, true).isValid()).isTrue();
      assertThat(writer.tryLock(1, 1, false).isValid()).isTrue();
    }
  }

  @Test
  default void aClosedChannelHoldsNoLocks() throws IOException {
    FileChannel one = FileChannel.open(file(), READ, WRITE);
    FileLock lock = one.lock();
    one.close();
    assertThat(lock.isValid()).isFalse();
    assertThatExceptionOfType(ClosedChannelException.class).isThrownBy(lock::release);
    assertThatExceptionOfType(ClosedChannelException.class).isThrownBy(one::lock);
    try (FileChannel two = FileChannel.open(path("file"), READ, WRITE)) {
      assertThat(two.tryLock().isValid()).isTrue();
    }
  }

  @Test
  default void otherFilesAndOtherNames() throws IOException {
    file();
    Files.createLink(path("other name"), path("file"));
    Files.createFile(path("other"));
    try (FileChannel one = FileChannel.open(path("file"), READ, WRITE);
        FileChannel same = FileChannel.open(path("other name"), READ, WRITE);
        FileChannel other = FileChannel.open(path("other"), READ, WRITE)) {
      one.lock();
      assertThatExceptionOfType(OverlappingFileLockException.class).isThrownBy(same::tryLock);
      assertThat(other.tryLock().isValid()).isTrue();
    }
  }

  @Test
  default void bothKindsOfChannels() throws Exception {
    file();
    AsynchronousFileChannel two = AsynchronousFileChannel.open(path("file"), READ, WRITE);
    try (FileChannel one = FileChannel.open(path("file"), READ, WRITE)) {
      FileLock first = one.lock(0, 10, false);
      assertThatExceptionOfType(OverlappingFileLockException.class)
          .isThrownBy(() -> two.lock(5, 10, true));
      assertThatExceptionOfType(OverlappingFileLockException.class)
          .isThrownBy(() -> two.tryLock(5, 10, true));
      FileLock second = two.lock(10, 10, false).get();
      assertThat(second.acquiredBy()).isSameAs(two);
      assertThat(second.channel()).isNull();
      NioAsynchronousContract.Told<FileLock> told = new NioAsynchronousContract.Told<>();
      two.lock(20, 10, true, "third", told);
      FileLock third = told.result.get();
      assertThat(third.isShared()).isTrue();
      assertThatExceptionOfType(OverlappingFileLockException.class)
          .isThrownBy(() -> one.lock(29, 1, true));
      first.release();
      assertThat(two.tryLock(0, 10, false).isValid()).isTrue();
      two.close();
      assertThat(second.isValid()).isFalse();
      assertThat(third.isValid()).isFalse();
      assertThat(one.tryLock().isValid()).isTrue();
    }
    try (AsynchronousFileChannel reader = AsynchronousFileChannel.open(path("file"), READ)) {
      assertThatExceptionOfType(NonWritableChannelException.class).isThrownBy(reader::lock);
    }
  }

  @Test
  default void oneHolderAtATime() throws Exception {
    file();
    AtomicInteger holders = new AtomicInteger();
    List<Future<Integer>> users = new ArrayList<>();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 16; i++) {
        users.add(executor.submit(() -> lockOften(holders)));
      }
    }
    int total = 0;
    for (Future<Integer> user : users) {
      total += user.get();
    }
    assertThat(total).isEqualTo(16 * 50);
  }

  private int lockOften(AtomicInteger holders) throws IOException, InterruptedException {
    int locked = 0;
    while (locked < 50) {
      try (FileChannel channel = FileChannel.open(path("file"), READ, WRITE)) {
        channel.lock(0, 1, false);
        int now = holders.incrementAndGet();
        if (differs(Difference.LOCK_HOLDERS)) {
          assertThat(now).isEqualTo(1);
        }
        Thread.yield();
        holders.decrementAndGet();
        locked++;
      } catch (OverlappingFileLockException e) {
        TimeUnit.MICROSECONDS.sleep(50);
      }
    }
    return locked;
  }
}
