package dev.extant.fsck;

/// A superblock with a number that cannot be; the message says which.
final class ImpossibleSuperblockException extends Exception {
  private static final long serialVersionUID = 1L;

  ImpossibleSuperblockException(String message) {
    super(message);
  }
}
