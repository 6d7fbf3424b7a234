package dev.extant.nio;

/// Where a file system of ours and one of the JDK's default provider may differ, each with the
/// reason; `docs/nio.md` lists them for users.
enum Difference {
  LOOPS("too many symbolic links are a FileSystemLoopException, which says more"),
  NOT_EMPTY("an atomic move onto a directory with entries is a DirectoryNotEmptyException"),
  OLD_TIMES("times before 1970 are kept, which the host's file system may not do"),
  NAMES("names are any bytes, whatever the locale is"),
  PRINCIPALS("users and groups have numbers for names, since an image has no user database"),
  MAPPING("mapping copies, so there is no MappedByteBuffer and no mapping for writing"),
  WATCHING("there is no watch service"),
  FILES("a path is no java.io.File"),
  DIRECTORY_URIS("the URI of a directory does not end with a slash, so that it needs no look-up"),
  ABSOLUTE("relative paths start at the root, since there is no working directory"),
  TEMPORARY("temporary files have the permissions of other new files"),
  JDK_OPTIONS("options of the JDK's own, such as INTERRUPTIBLE and DIRECT, are not supported"),
  SELF_COPY("a link copied onto itself with REPLACE_EXISTING is replaced, not removed"),
  IGNORED_OPTION(
      "CREATE_NEW, which means nothing for a reader, does not make NOFOLLOW_LINKS follow"),
  BIRTH("the creation time can be set"),
  LOCK_HOLDERS("a lock has one holder at a time also while other channels of the file are closed");

  final String reason;

  Difference(String reason) {
    this.reason = reason;
  }
}
