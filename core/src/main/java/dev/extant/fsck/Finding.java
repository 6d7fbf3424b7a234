package dev.extant.fsck;

/// One thing that is wrong. `ino` and `blockNr` are 0 where it belongs to none.
public record Finding(Problem problem, long ino, long blockNr, String detail) {
  /// One line, e.g. `inode 12: i_blocks is wrong: it is 8, should be 16`.
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    if (ino != 0) {
      text.append("inode ").append(ino).append(": ");
    }
    if (blockNr != 0) {
      text.append("block ").append(blockNr).append(": ");
    }
    text.append(problem.structure()).append(": ").append(problem.wording());
    return detail.isEmpty() ? text.toString() : text.append(": ").append(detail).toString();
  }
}
