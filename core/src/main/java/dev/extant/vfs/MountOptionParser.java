package dev.extant.vfs;

import dev.extant.vfs.MountOptions.AccessTime;
import dev.extant.vfs.MountOptions.DataMode;
import dev.extant.vfs.MountOptions.ErrorPolicy;
import java.util.Map;

/// Reads mount options as `mount -o` writes them, one at a time; a later one overrides an earlier.
///
/// An unknown option, or a value an option does not take, is an [IllegalArgumentException] that
/// names it.
final class MountOptionParser {
  /// So that no operation hangs for longer than it takes to commit by age.
  private static final int MOST_BATCH_MICROS = 5_000_000;

  private final MountOptions.Builder options = MountOptions.builder();
  private Batching batching = MountOptions.defaults().batching();

  MountOptions result() {
    return options.batching(batching).build();
  }

  /// A comma-separated list.
  void list(String list) {
    for (String item : list.split(",")) {
      if (!item.isBlank()) {
        int equals = item.indexOf('=');
        if (equals < 0) {
          option(item.strip(), null);
        } else {
          option(item.substring(0, equals).strip(), item.substring(equals + 1).strip());
        }
      }
    }
  }

  /// Values are strings, numbers or booleans. True means the option alone; false its opposite or,
  /// where there is none, its absence. The key `options` holds a list.
  void map(Map<String, ?> map) {
    Object list = map.get("options");
    if (list != null) {
      list(list.toString());
    }
    for (Map.Entry<String, ?> entry : map.entrySet()) {
      if (!entry.getKey().equals("options")) {
        value(entry.getKey(), String.valueOf(entry.getValue()));
      }
    }
  }

  private void value(String name, String value) {
    switch (value) {
      case "true", "" -> option(name, null);
      case "false" -> option(opposite(name), null);
      default -> option(name, value);
    }
  }

  private static String opposite(String name) {
    return switch (name) {
      case "ro" -> "rw";
      case "rw" -> "ro";
      case "barrier" -> "nobarrier";
      case "nobarrier" -> "barrier";
      case "noatime" -> "relatime";
      case "relatime" -> "noatime";
      case "noload", "norecovery" -> "load";
      case "reserve" -> "noreserve";
      case "noreserve" -> "reserve";
      case "discard" -> "nodiscard";
      case "nodiscard" -> "discard";
      default -> throw unknown(name + "=false");
    };
  }

  private void option(String name, String value) {
    if (value == null) {
      flag(name);
      return;
    }
    switch (name) {
      case "data" -> options.data(choice(name, value, DataMode.values()));
      case "errors" -> options.errors(choice(name, value, ErrorPolicy.values()));
      case "commit" -> options.commitIntervalSeconds((int) number(name, value, 0, 86_400));
      case "cache" -> options.cacheBytes(size(name, value));
      case "batching" -> batching = batching.withRule(choice(name, value, Batching.Rule.values()));
      case "hz" -> batching = batching.withHz((int) number(name, value, 1, 1_000_000));
      case "min_batch_time" -> batching = batching.withMinMicros(micros(name, value));
      case "max_batch_time" -> batching = batching.withMaxMicros(micros(name, value));
      case "barrier" -> options.barrier(number(name, value, 0, 1) == 1);
      default -> throw unknown(name + "=" + value);
    }
  }

  private void flag(String name) {
    switch (name) {
      case "defaults" -> {}
      case "ro" -> options.readOnly(true);
      case "rw" -> options.readOnly(false);
      case "barrier" -> options.barrier(true);
      case "nobarrier" -> options.barrier(false);
      case "noload", "norecovery" -> options.noload(true);
      case "load" -> options.noload(false);
      case "reserve" -> options.useReserve(true);
      case "noreserve" -> options.useReserve(false);
      case "discard" -> options.discard(true);
      case "nodiscard" -> options.discard(false);
      case "noatime" -> options.accessTime(AccessTime.NOATIME);
      case "relatime" -> options.accessTime(AccessTime.RELATIME);
      default -> throw unknown(name);
    }
  }

  private static <E extends Enum<E>> E choice(String name, String value, E[] choices) {
    for (E choice : choices) {
      if (choice.name().replace('_', '-').equalsIgnoreCase(value)) {
        return choice;
      }
    }
    throw new IllegalArgumentException(
        "mount option " + name + " does not take the value " + value);
  }

  private static int micros(String name, String value) {
    return (int) number(name, value, 0, MOST_BATCH_MICROS);
  }

  private static long number(String name, String value, long least, long most) {
    try {
      long number = Long.parseLong(value);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("mount option " + name + " is not a number: " + value, e);
    }
    throw new IllegalArgumentException(
        "mount option " + name + " is not between " + least + " and " + most + ": " + value);
  }

  /// Bytes, or with the suffix K, M, G or T their multiples of 1024.
  private static long size(String name, String value) {
    int unit =
        value.isEmpty()
            ? -1
            : "KMGT".indexOf(Character.toUpperCase(value.charAt(value.length() - 1)));
    String digits = unit < 0 ? value : value.substring(0, value.length() - 1);
    int shift = 10 * (unit + 1);
    return number(name, digits, 0, Long.MAX_VALUE >> shift) << shift;
  }

  private static IllegalArgumentException unknown(String option) {
    return new IllegalArgumentException("unknown mount option " + option);
  }
}
