package dev.extant.vfs;

/// Why an operation was refused, with Linux's numbers.
public enum Errno {
  EPERM(1, "operation not permitted"),
  ENOENT(2, "no such file or directory"),
  EINTR(4, "interrupted"),
  EIO(5, "input/output error"),
  E2BIG(7, "argument too long"),
  EBADF(9, "file is closed or not open for this"),
  EACCES(13, "permission denied"),
  EBUSY(16, "in use"),
  EEXIST(17, "file exists"),
  EXDEV(18, "not on the same file system"),
  ENOTDIR(20, "not a directory"),
  EISDIR(21, "is a directory"),
  EINVAL(22, "invalid argument"),
  EFBIG(27, "file too large"),
  ENOSPC(28, "no space left on device"),
  EROFS(30, "read-only file system"),
  EMLINK(31, "too many links"),
  ERANGE(34, "result too large"),
  ENAMETOOLONG(36, "file name too long"),
  ENOTEMPTY(39, "directory not empty"),
  ELOOP(40, "too many levels of symbolic links"),
  ENODATA(61, "no data available"),
  EOVERFLOW(75, "value too large"),
  EOPNOTSUPP(95, "operation not supported"),
  EUCLEAN(117, "structure needs cleaning"),
  EDQUOT(122, "quota exceeded");

  private final int number;
  private final String text;

  Errno(int number, String text) {
    this.number = number;
    this.text = text;
  }

  public int number() {
    return number;
  }

  public String text() {
    return text;
  }
}
