package dev.extant.cli;

import dev.extant.Extant;
import dev.extant.vfs.TuneOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant tune`.
@Command(
    name = "tune",
    description = "Changes a file system's label, UUID, reserve and checks, or adds a journal.",
    footer = {"", "The file system must not be mounted. `extant info` shows what there is now."})
final class TuneCommand extends SubCommand {
  private static final Map<Character, Long> SECONDS =
      Map.of('s', 1L, 'd', 86_400L, 'w', 604_800L, 'm', 2_592_000L);

  @Option(names = "-L", paramLabel = "LABEL", description = "The volume's name.")
  private String label;

  @Option(names = "-U", paramLabel = "UUID", description = "A UUID, or random, or clear.")
  private String uuid;

  @Option(names = "-m", paramLabel = "PERCENT", description = "Blocks kept for root.")
  private Double reservedPercent;

  @Option(names = "-r", paramLabel = "BLOCKS", description = "The same as a number of blocks.")
  private Long reservedBlocks;

  @Option(names = "-C", paramLabel = "COUNT", description = "How often it has been mounted.")
  private Integer mountCount;

  @Option(
      names = "-c",
      paramLabel = "COUNT",
      description = "Mounts after which it should be checked; -1 for never.")
  private Integer maxMountCount;

  @Option(
      names = "-i",
      paramLabel = "TIME",
      description = "Time after which it should be checked: days, or a number with s, d, w, m; 0.")
  private String checkInterval;

  @Option(
      names = "-e",
      paramLabel = "BEHAVIOUR",
      description = "What Linux does on errors: continue, remount-ro or panic.")
  private String onError;

  @Option(names = "-j", description = "Adds a journal (ext2 becomes ext3).")
  private boolean addJournal;

  @Option(names = "-J", paramLabel = "size=MB", description = "Adds a journal of that size.")
  private String journal;

  @Parameters(paramLabel = "IMAGE")
  private Path image;

  @Override
  void run() throws IOException {
    TuneOptions.Builder options = TuneOptions.builder();
    if (label != null) {
      options.label(label);
    }
    if (uuid != null) {
      options.uuid(uuid(uuid));
    }
    if (reservedPercent != null && reservedBlocks != null) {
      throw usage("-m and -r exclude each other");
    }
    if (reservedPercent != null) {
      options.reservedPercent(reservedPercent);
    }
    if (reservedBlocks != null) {
      options.reservedBlocks(reservedBlocks);
    }
    if (mountCount != null) {
      options.mountCount(mountCount);
    }
    if (maxMountCount != null) {
      options.maxMountCount(maxMountCount);
    }
    if (checkInterval != null) {
      options.checkIntervalSeconds(seconds(checkInterval));
    }
    if (onError != null) {
      options.onError(behaviour(onError));
    }
    if (addJournal || journal != null) {
      options.journalMebibytes(journal == null ? 0 : MkfsCommand.mebibytes(this, journal));
    }
    if (options.build().equals(TuneOptions.builder().build())) {
      throw usage("nothing to change was given");
    }
    Extant.tune(image, options.build());
  }

  private UUID uuid(String text) {
    try {
      return switch (text) {
        case "random" -> UUID.randomUUID();
        case "clear" -> new UUID(0, 0);
        default -> UUID.fromString(text);
      };
    } catch (IllegalArgumentException _) {
      throw usage("-U " + text + ": not a UUID, random or clear");
    }
  }

  private long seconds(String text) {
    if (!text.matches("\\d{1,9}[sdwm]?")) {
      throw usage("-i " + text + ": not a number of days, or one with s, d, w or m");
    }
    char unit = text.charAt(text.length() - 1);
    if (Character.isDigit(unit)) {
      return Long.parseLong(text) * SECONDS.get('d');
    }
    return Long.parseLong(text.substring(0, text.length() - 1)) * SECONDS.get(unit);
  }

  private TuneOptions.OnError behaviour(String text) {
    return switch (text) {
      case "continue" -> TuneOptions.OnError.CONTINUE;
      case "remount-ro" -> TuneOptions.OnError.REMOUNT_RO;
      case "panic" -> TuneOptions.OnError.PANIC;
      default -> throw usage("-e " + text + ": not continue, remount-ro or panic");
    };
  }
}
