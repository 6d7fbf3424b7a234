package dev.extant.cli;

import dev.extant.mkfs.MkfsOptions;
import java.util.List;
import java.util.UUID;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/// What stands behind `mkfs -E`: options separated by commas.
final class MkfsExtendedOptions {
  private final MkfsOptions.Builder options;
  private final long sizeBytes;
  private final SubCommand command;

  /// `options` has everything that is not extended; `sizeBytes` is the size of the file system, 0
  /// if nobody knows it.
  MkfsExtendedOptions(MkfsOptions.Builder options, long sizeBytes, SubCommand command) {
    this.options = options;
    this.sizeBytes = sizeBytes;
    this.command = command;
  }

  void add(List<String> lists) {
    for (String list : lists) {
      for (String option : list.split(",")) {
        int equals = option.indexOf('=');
        if (equals < 0 || !add(option.substring(0, equals), option.substring(equals + 1))) {
          throw wrong(option, "unknown, or its value is wrong");
        }
      }
    }
  }

  /// False if there is no such option or it cannot have that value.
  private boolean add(String name, String value) {
    boolean number = value.matches("\\d{1,18}");
    switch (name) {
      case "hash_seed" -> options.hashSeed(uuid(value));
      case "root_owner" -> {
        return rootOwner(value);
      }
      case "stride" -> options.strideBlocks(number ? Long.parseLong(value) : 0);
      case "stripe_width", "stripe-width" ->
          options.stripeWidthBlocks(number ? Long.parseLong(value) : 0);
      case "resize" -> {
        options.resizeBlocks(number ? Long.parseLong(value) : blocks(value));
        return true;
      }
      case "lazy_itable_init", "lazy_journal_init" -> {
        return value.equals("0") || value.equals("1");
      }
      default -> {
        return false;
      }
    }
    return number || name.equals("hash_seed");
  }

  private UUID uuid(String value) {
    try {
      return UUID.fromString(value);
    } catch (IllegalArgumentException e) {
      throw wrong("hash_seed=" + value, "not a UUID");
    }
  }

  private boolean rootOwner(String value) {
    boolean owner = value.matches("\\d{1,9}:\\d{1,9}");
    if (owner) {
      String[] ids = value.split(":");
      options.rootOwner(Long.parseLong(ids[0]), Long.parseLong(ids[1]));
    }
    return owner;
  }

  private long blocks(String size) {
    try {
      return Sizes.parse(size) / options.build().blockSizeFor(sizeBytes);
    } catch (TypeConversionException e) {
      throw wrong("resize=" + size, e.getMessage());
    }
  }

  private ParameterException wrong(String option, String why) {
    return command.usage("-E " + option + ": " + why);
  }
}
