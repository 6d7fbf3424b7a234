package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.cache.Buffer;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.journal.CommitListener;
import dev.extant.journal.Handle;
import dev.extant.journal.Journal;
import dev.extant.journal.OrderedData;
import dev.extant.journal.Sealer;
import dev.extant.vfs.MountOptions.DataMode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Data of blocks that an older transaction is about to show must reach the device although a newer
/// one takes them away (I2).
class OrderedTruncateTest {
  private static final int BLOCK = FileFixture.BLOCK_SIZE_BYTES;

  private final FileFixture fs;
  private final NumberedJournal journal;
  private final FileData files;

  OrderedTruncateTest() throws IOException {
    fs = new FileFixture(2_000, 1 << 20);
    journal = new NumberedJournal(fs.journal);
    files =
        new FileData(
            journal,
            fs.pages,
            fs.buffers,
            fs.tree,
            fs.inodes,
            new FileData.Orphans() {
              @Override
              public void add(Handle handle, Inode inode) {}

              @Override
              public void remove(Handle handle, Inode inode) {}
            },
            new FileData.Policy(DataMode.ORDERED, () -> fs.now, fs.blocks::freesPending),
            Features.of(Feature.EXTENT));
  }

  @AfterEach
  void close() throws IOException {
    fs.close();
  }

  /// A journal whose transactions are numbered by the test and never become durable.
  private record NumberedHandle(Handle handle, long tid) implements Handle {
    @Override
    public void writeAccess(Buffer buffer) throws IOException {
      handle.writeAccess(buffer);
    }

    @Override
    public void createAccess(Buffer buffer) throws IOException {
      handle.createAccess(buffer);
    }

    @Override
    public void dirty(Buffer buffer, Sealer sealer) throws IOException {
      handle.dirty(buffer, sealer);
    }

    @Override
    public void forget(long blockNr, Buffer buffer) throws IOException {
      handle.forget(blockNr, buffer);
    }

    @Override
    public void orderedData(OrderedData data) {
      handle.orderedData(data);
    }

    @Override
    public boolean extend(int credits) {
      return handle.extend(credits);
    }

    @Override
    public int creditsLeft() {
      return handle.creditsLeft();
    }

    @Override
    public void close() {
      handle.close();
    }
  }

  private static final class NumberedJournal implements Journal {
    private final Journal journal;
    long running = 1;
    long durable;

    NumberedJournal(Journal journal) {
      this.journal = journal;
    }

    @Override
    public Handle start(int credits) throws IOException {
      return new NumberedHandle(journal.start(credits), running);
    }

    @Override
    public boolean committed(long tid) {
      return tid <= durable;
    }

    @Override
    public boolean atomic() {
      return journal.atomic();
    }

    @Override
    public int maxCredits() {
      return journal.maxCredits();
    }

    @Override
    public CompletableFuture<Void> commit(long tid, long syncer) {
      return journal.commit(tid, syncer);
    }

    @Override
    public CompletableFuture<Void> commitRunning() {
      return journal.commitRunning();
    }

    @Override
    public boolean coversWrites(long tid) {
      return journal.coversWrites(tid);
    }

    @Override
    public void addCommitListener(CommitListener listener) {
      journal.addCommitListener(listener);
    }

    @Override
    public void abort(Throwable cause) {
      journal.abort(cause);
    }

    @Override
    public Throwable abortCause() {
      return journal.abortCause();
    }

    @Override
    public void checkpoint() throws IOException {
      journal.checkpoint();
    }

    @Override
    public void close() throws IOException {
      journal.close();
    }
  }

  /// Writes two blocks in the running transaction; returns where the second one is.
  private long write(Inode inode) throws IOException {
    byte[] bytes = new byte[2 * BLOCK];
    java.util.Arrays.fill(bytes, (byte) 'x');
    files.write(inode, 0, MemorySegment.ofArray(bytes));
    return fs.tree.lookup(inode, 1, 1).blockNr();
  }

  private int firstByteOnDevice(long blockNr) {
    return fs.device.ram.memory().get(ValueLayout.JAVA_BYTE, blockNr * BLOCK);
  }

  @Test
  void inTheSameTransactionThePagesAreJustDropped() throws IOException {
    Inode inode = fs.newFile(12);
    long second = write(inode);
    files.truncate(inode, BLOCK);
    assertThat(firstByteOnDevice(second)).isNotEqualTo('x');
    assertThat(fs.device.writes).isZero();
  }

  @Test
  void aTruncationInALaterTransactionWritesThemFirst() throws IOException {
    Inode inode = fs.newFile(12);
    long second = write(inode);
    journal.running = 2;
    files.truncate(inode, BLOCK);
    assertThat(firstByteOnDevice(second)).isEqualTo('x');
  }

  @Test
  void dataOfTwoTransactionsIsWrittenForTheOlderOne() throws IOException {
    Inode inode = fs.newFile(12);
    long second = write(inode);
    journal.running = 2;
    files.append(inode, MemorySegment.ofArray(new byte[BLOCK]));
    files.freeAll(inode);
    assertThat(firstByteOnDevice(second)).isEqualTo('x');
  }

  @Test
  void soDoesTheFreeingOfADeletedFile() throws IOException {
    Inode inode = fs.newFile(12);
    long second = write(inode);
    journal.running = 2;
    files.freeAll(inode);
    assertThat(firstByteOnDevice(second)).isEqualTo('x');
  }

  @Test
  void nothingIsWrittenForADurableTransaction() throws IOException {
    Inode inode = fs.newFile(12);
    write(inode);
    journal.running = 2;
    journal.durable = 1;
    files.freeAll(inode);
    assertThat(fs.device.writes).isZero();
  }
}
