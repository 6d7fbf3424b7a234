package dev.extant.ext4;

import dev.extant.ext4.format.DirHash;
import dev.extant.util.Le;
import dev.extant.vfs.FileName;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;

/// Names of encrypted directories and targets of encrypted symbolic links for who has no key, as
/// Linux shows them (documentation, "fscrypt", "Without the key"). What is on disk is any bytes,
/// also slashes and zeroes; what is *shown* is the base64url form, without padding, of
///
/// | bytes | what |
/// | --- | --- |
/// | 4 | major hash of the name, or 0 where the directory has no order of hashes |
/// | 4 | minor hash, likewise |
/// | up to 149 | the name as it is on disk |
/// | 0 or 32 | the SHA-256 of what follows in a longer name |
///
/// so that different names are shown differently, and none is longer than a name may be. Nothing is
/// ever decrypted.
final class EncryptedNames {
  private static final int HASHES = 8;
  private static final int HEAD = 149;
  private static final int DIGEST = 32;

  private EncryptedNames() {}

  /// `hashes` as of [DirHash#of(byte[])], or 0.
  static FileName shown(byte[] stored, long hashes) {
    int head = Math.min(stored.length, HEAD);
    byte[] bytes = new byte[HASHES + head + (stored.length > HEAD ? DIGEST : 0)];
    MemorySegment fields = MemorySegment.ofArray(bytes);
    Le.put32(fields, 0, DirHash.major(hashes));
    Le.put32(fields, 4, DirHash.minor(hashes));
    System.arraycopy(stored, 0, bytes, HASHES, head);
    if (stored.length > HEAD) {
      System.arraycopy(digest(stored), 0, bytes, HASHES + HEAD, DIGEST);
    }
    return FileName.of(Base64.getUrlEncoder().withoutPadding().encode(bytes));
  }

  static int shownLength(int storedLength) {
    int bytes = HASHES + (storedLength > HEAD ? HEAD + DIGEST : storedLength);
    return (bytes * 4 + 2) / 3;
  }

  private static byte[] digest(byte[] stored) {
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      sha256.update(stored, HEAD, stored.length - HEAD);
      return sha256.digest();
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java has SHA-256", e);
    }
  }

  /// What a shown name says of the stored one.
  sealed interface Stored {
    /// The whole of it.
    record Whole(FileName name) implements Stored {}

    /// It is longer, and the one that [#matches].
    record Shortened(byte[] bytes) implements Stored {
      boolean matches(FileName stored) {
        if (stored.length() <= HEAD) {
          return false;
        }
        byte[] all = stored.bytes();
        return Arrays.equals(all, 0, HEAD, bytes, HASHES, HASHES + HEAD)
            && Arrays.equals(digest(all), 0, DIGEST, bytes, HASHES + HEAD, bytes.length);
      }
    }

    /// No name is shown so.
    record None() implements Stored {}
  }

  static Stored stored(FileName shown) {
    byte[] bytes;
    try {
      bytes = Base64.getUrlDecoder().decode(shown.toString().getBytes(StandardCharsets.US_ASCII));
    } catch (IllegalArgumentException e) {
      return new Stored.None();
    }
    if (bytes.length <= HASHES) {
      return new Stored.None();
    }
    if (bytes.length <= HASHES + HEAD) {
      return new Stored.Whole(FileName.of(Arrays.copyOfRange(bytes, HASHES, bytes.length)));
    }
    return bytes.length == HASHES + HEAD + DIGEST ? new Stored.Shortened(bytes) : new Stored.None();
  }
}
