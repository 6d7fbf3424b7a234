package dev.extant.ext4.format;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// The three feature words of a superblock, bits that nobody knows included.
public record Features(int compat, int incompat, int roCompat) {
  public static final Features NONE = new Features(0, 0, 0);

  public static Features of(Feature... features) {
    Features all = NONE;
    for (Feature feature : features) {
      all = all.with(feature);
    }
    return all;
  }

  public boolean has(Feature feature) {
    return (word(feature.word()) & feature.bit()) != 0;
  }

  public Features with(Feature feature) {
    return changed(feature, feature.bit());
  }

  public Features without(Feature feature) {
    return changed(feature, 0);
  }

  private Features changed(Feature feature, int value) {
    int bit = feature.bit();
    return switch (feature.word()) {
      case COMPAT -> new Features(compat & ~bit | value, incompat, roCompat);
      case INCOMPAT -> new Features(compat, incompat & ~bit | value, roCompat);
      case RO_COMPAT -> new Features(compat, incompat, roCompat & ~bit | value);
    };
  }

  private int word(Feature.Word word) {
    return switch (word) {
      case COMPAT -> compat;
      case INCOMPAT -> incompat;
      case RO_COMPAT -> roCompat;
    };
  }

  /// The names of all features present; a bit without a name is shown as `FEATURE_C9`, `FEATURE_I9`
  /// or `FEATURE_R9` with its number, as dumpe2fs does.
  public List<String> names() {
    List<String> names = new ArrayList<>();
    for (Feature.Word word : Feature.Word.values()) {
      for (int bits = word(word); bits != 0; bits &= bits - 1) {
        names.add(nameOf(word, Integer.lowestOneBit(bits)));
      }
    }
    return names;
  }

  /// Throws EOPNOTSUPP naming the device and the features that keep this file system from being
  /// opened even for reading.
  public void requireReadable(String device) throws FsException {
    if (has(Feature.JOURNAL_DEV)) {
      throw new FsException(
          Errno.EOPNOTSUPP,
          device
              + " is the external journal of a file system (feature journal_dev), not a file"
              + " system");
    }
    List<String> refused = unsupported(Feature.Support.READ);
    if (!refused.isEmpty()) {
      throw new FsException(
          Errno.EOPNOTSUPP,
          device + ": the file system uses " + listed(refused) + ", which is not supported");
    }
  }

  /// Why this file system may only be read, in one sentence that names the features; null if it may
  /// be written.
  public String readOnlyReason() {
    List<String> readOnly = unsupported(Feature.Support.WRITE);
    return readOnly.isEmpty()
        ? null
        : "the file system uses " + listed(readOnly) + ", so it can only be opened read-only";
  }

  /// Names of the features present whose support is less than `needed`.
  private List<String> unsupported(Feature.Support needed) {
    List<String> names = new ArrayList<>();
    for (Feature.Word word : Feature.Word.values()) {
      for (int bits = word(word); bits != 0; bits &= bits - 1) {
        int bit = Integer.lowestOneBit(bits);
        if (supportOf(word, bit).compareTo(needed) > 0) {
          names.add(find(word, bit) != null ? nameOf(word, bit) : withBit(word, bit));
        }
      }
    }
    return names;
  }

  private static Feature.Support supportOf(Feature.Word word, int bit) {
    Feature feature = find(word, bit);
    if (feature != null) {
      return feature.support();
    }
    return switch (word) {
      case COMPAT -> Feature.Support.WRITE;
      case INCOMPAT -> Feature.Support.REFUSE;
      case RO_COMPAT -> Feature.Support.READ;
    };
  }

  private static String nameOf(Feature.Word word, int bit) {
    Feature feature = find(word, bit);
    return feature != null
        ? feature.spelling()
        : "FEATURE_" + word.name().charAt(0) + Integer.numberOfTrailingZeros(bit);
  }

  private static String withBit(Feature.Word word, int bit) {
    return "%s (0x%x in s_feature_%s)"
        .formatted(nameOf(word, bit), bit, word.name().toLowerCase(Locale.ROOT));
  }

  private static Feature find(Feature.Word word, int bit) {
    for (Feature feature : Feature.values()) {
      if (feature.word() == word && feature.bit() == bit) {
        return feature;
      }
    }
    return null;
  }

  private static String listed(List<String> names) {
    return (names.size() == 1 ? "the feature " : "the features ") + String.join(", ", names);
  }
}
