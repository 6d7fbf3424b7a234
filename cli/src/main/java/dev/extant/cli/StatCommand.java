package dev.extant.cli;

import dev.extant.vfs.Attributes;
import dev.extant.vfs.FileName;
import dev.extant.vfs.Node;
import java.io.IOException;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant stat`.
@Command(name = "stat", description = "Shows all that an inode says.")
final class StatCommand extends SubCommand {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSSSSS xx");

  @Option(names = "-L", description = "Follows a symbolic link.")
  private boolean follow;

  @Option(names = "--json", description = "Writes JSON.")
  private boolean json;

  @Parameters(paramLabel = "IMAGE:/PATH", arity = "1..*")
  private List<String> paths;

  private final List<Map<String, Object>> collected = new ArrayList<>();

  @Override
  void run() throws IOException {
    try (Session session = reading()) {
      each(session, paths, this::stat);
    }
    if (json) {
      console().printLine(Json.of(collected));
    }
  }

  private void stat(Operand operand) throws IOException {
    try (Node node = operand.find(follow)) {
      Listing listing = Listing.of(FileName.of(operand.text()), operand.volume(), node);
      if (json) {
        collected.add(listing.json(ShownPath.of(operand.text())));
      } else {
        show(listing);
      }
    }
  }

  private void show(Listing listing) throws IOException {
    Attributes attributes = listing.attributes();
    console().print("  File: ");
    console().print(listing.name());
    if (listing.target() != null) {
      console().print(" -> ");
      console().printName(listing.target());
    }
    String device =
        listing.isDevice()
            ? "  Device type: " + listing.deviceMajor() + "," + listing.deviceMinor()
            : "";
    console()
        .printLine(
            String.format(
                "%n  Size: %-12d Blocks: %-10d IO Block: %-6d %s",
                attributes.sizeBytes(),
                attributes.allocatedBytes() / 512,
                attributes.blockSizeBytes(),
                Copier.describe(attributes.type())));
    console()
        .printLine(
            String.format(
                " Inode: %-12d Links: %-11d Generation: %d%s",
                attributes.ino(),
                attributes.nlink(),
                Integer.toUnsignedLong(attributes.generation()),
                device));
    console()
        .printLine(
            String.format(
                "Access: (%04o/%s)  Uid: %d  Gid: %d",
                attributes.permissions(),
                listing.modeString(),
                attributes.uid(),
                attributes.gid()));
    console().printLine("Access: " + time(attributes.times().accessed()));
    console().printLine("Modify: " + time(attributes.times().modified()));
    console().printLine("Change: " + time(attributes.times().changed()));
    console().printLine(" Birth: " + time(attributes.times().created()));
  }

  private static String time(Instant time) {
    return time == null ? "-" : TIME.format(time.atZone(ZoneId.systemDefault()));
  }
}
