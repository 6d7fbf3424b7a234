package dev.extant.cli;

import dev.extant.vfs.VolumeStatistics;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant df`.
@Command(name = "df", description = "Shows how full images are.")
final class DfCommand extends SubCommand {
  private static final String FORMAT = "%-24s %12s %12s %12s %5s %s";

  @Option(names = "-h", description = "Shows sizes like 1.5K or 23M.")
  private boolean human;

  @Option(names = "-i", description = "Counts inodes instead of blocks.")
  private boolean inodes;

  @Option(names = "--json", description = "Writes JSON.")
  private boolean json;

  @Parameters(paramLabel = "IMAGE", arity = "1..*")
  private List<String> images;

  private final List<Map<String, Object>> collected = new ArrayList<>();

  @Override
  void run() throws IOException {
    if (!json) {
      String size = inodes ? "Inodes" : human ? "Size" : "1K-blocks";
      console()
          .printLine(String.format(FORMAT, "Image", size, "Used", "Available", "Use%", "Label"));
    }
    try (Session session = reading()) {
      for (String image : images) {
        try {
          show(image, session.volume(imageOf(image)).statistics());
        } catch (IOException e) {
          complain(CommandFailure.at(image, e));
        }
      }
    }
    if (json) {
      console().printLine(Json.of(collected));
    }
  }

  /// `IMAGE` or `IMAGE:/anything`.
  private static Path imageOf(String text) {
    return switch (Location.parse(text)) {
      case Location.InImage in -> in.image();
      case Location.Host host -> host.path();
    };
  }

  private void show(String image, VolumeStatistics statistics) throws IOException {
    if (json) {
      collected.add(json(image, statistics));
      return;
    }
    long total = inodes ? statistics.totalInodes() : bytes(statistics, statistics.totalBlocks());
    long free = inodes ? statistics.freeInodes() : bytes(statistics, statistics.freeBlocks());
    long available = inodes ? free : bytes(statistics, statistics.availableBlocks());
    long used = total - free;
    long percent = used + available == 0 ? 0 : Math.ceilDiv(used * 100, used + available);
    console()
        .printLine(
            String.format(
                    FORMAT,
                    image,
                    figure(total),
                    figure(used),
                    figure(available),
                    percent + "%",
                    statistics.label())
                .stripTrailing());
  }

  private static long bytes(VolumeStatistics statistics, long blocks) {
    return blocks * statistics.blockSizeBytes();
  }

  private String figure(long value) {
    if (human) {
      return Sizes.human(value);
    }
    return Long.toString(inodes ? value : Math.ceilDiv(value, 1024));
  }

  private static Map<String, Object> json(String image, VolumeStatistics statistics) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("image", image);
    json.put("label", statistics.label());
    json.put("uuid", statistics.uuid());
    json.put("blockSizeBytes", statistics.blockSizeBytes());
    json.put("totalBlocks", statistics.totalBlocks());
    json.put("freeBlocks", statistics.freeBlocks());
    json.put("availableBlocks", statistics.availableBlocks());
    json.put("totalInodes", statistics.totalInodes());
    json.put("freeInodes", statistics.freeInodes());
    return json;
  }
}
