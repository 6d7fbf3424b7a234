package dev.extant.cli;

import dev.extant.Extant;
import dev.extant.block.FileDevice;
import dev.extant.block.RequestQueue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant journal`.
@Command(
    name = "journal",
    description = "Shows what is in the journal, like debugfs logdump. Changes nothing.")
final class JournalCommand extends SubCommand {
  @Option(names = "-b", description = "Lists the blocks of each transaction too.")
  private boolean blocks;

  @Parameters(paramLabel = "IMAGE")
  private Path image;

  @Override
  void run() throws IOException {
    Session.requireImage(image);
    try (FileDevice device = FileDevice.open(image, true);
        RequestQueue queue = new RequestQueue(device)) {
      show(queue);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private void show(RequestQueue queue) throws IOException {
    var reader = Extant.journal(queue);
    var info = reader.info();
    Figures figures = new Figures();
    figures.add("Journal version", "version", info.version());
    figures.add("Journal features", "features", String.join(" ", info.features()));
    figures.add("Block size", "blockSizeBytes", info.blockSizeBytes());
    figures.add("Length in blocks", "lengthBlocks", info.lengthBlocks());
    figures.add("First log block", "first", info.first());
    figures.add("Start", "start", info.start() == 0 ? "0 (empty)" : info.start(), info.start());
    figures.add("Next transaction", "tid", info.tid());
    figures.add("Recorded error", "errno", info.errno());
    figures.print(console(), false);
    reader.forEachTransaction(
        transaction -> {
          String time = transaction.commitTime() == null ? "" : " at " + transaction.commitTime();
          String problem = transaction.problem() == null ? "" : ": " + transaction.problem();
          line(
              String.format(
                  Locale.ROOT,
                  "transaction %d: log block %d, %d log blocks, %d copies, %d revokes, %s%s%s",
                  transaction.tid(),
                  transaction.startBlock(),
                  transaction.blockCount(),
                  transaction.blocks().size(),
                  transaction.revokes().size(),
                  transaction.state().toString().toLowerCase(Locale.ROOT),
                  time,
                  problem));
          if (blocks) {
            for (var block : transaction.blocks()) {
              line(
                  "  block "
                      + block.blockNr()
                      + " in log block "
                      + block.logBlock()
                      + (block.escaped() ? ", escaped" : "")
                      + (block.intact() ? "" : ", damaged"));
            }
            if (!transaction.revokes().isEmpty()) {
              line(
                  "  revoked: "
                      + transaction.revokes().stream()
                          .map(String::valueOf)
                          .collect(Collectors.joining(" ")));
            }
          }
        });
  }

  private void line(String text) {
    try {
      console().printLine(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
