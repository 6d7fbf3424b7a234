package dev.extant.nio;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.AccessMode;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.AclFileAttributeView;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.DosFileAttributes;
import java.nio.file.attribute.FileOwnerAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Attributes, access checks and file stores.
interface NioAttributeContract extends NioFixture {
  private Path file() throws IOException {
    return Files.writeString(path("file"), "abc");
  }

  private Path link(String target) throws IOException {
    return Files.createSymbolicLink(path("link"), path("link").getFileSystem().getPath(target));
  }

  @Test
  default void basicAttributes() throws IOException {
    link(file().getFileName().toString());
    BasicFileAttributes file = Files.readAttributes(path("file"), BasicFileAttributes.class);
    assertThat(file.isRegularFile()).isTrue();
    assertThat(file.isDirectory() || file.isSymbolicLink() || file.isOther()).isFalse();
    assertThat(file.size()).isEqualTo(3);
    assertThat(file.fileKey())
        .isEqualTo(Files.readAttributes(path("link"), BasicFileAttributes.class).fileKey());
    var link = Files.readAttributes(path("link"), BasicFileAttributes.class, NOFOLLOW_LINKS);
    assertThat(link.isSymbolicLink()).isTrue();
    assertThat(link.size()).isEqualTo(4);
    assertThat(link.fileKey()).isNotEqualTo(file.fileKey());
    var directory = Files.readAttributes(directory(), BasicFileAttributes.class);
    assertThat(directory.isDirectory()).isTrue();
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> Files.readAttributes(path("missing"), BasicFileAttributes.class));
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> Files.readAttributes(path("file"), UnknownAttributes.class));
  }

  /// Attributes that no provider has.
  interface UnknownAttributes extends DosFileAttributes {}

  @Test
  default void timesKeepNanoseconds() throws IOException {
    file();
    FileTime modified = FileTime.from(Instant.parse("2001-02-03T04:05:06.123456789Z"));
    String year = differs(Difference.OLD_TIMES) ? "1960" : "1975";
    FileTime accessed = FileTime.from(Instant.parse(year + "-01-01T00:00:00.999999999Z"));
    BasicFileAttributeView view =
        Files.getFileAttributeView(path("file"), BasicFileAttributeView.class);
    view.setTimes(modified, accessed, null);
    assertThat(view.readAttributes().lastModifiedTime()).isEqualTo(modified);
    assertThat(view.readAttributes().lastAccessTime()).isEqualTo(accessed);
    view.setTimes(null, null, null);
    Files.setLastModifiedTime(path("file"), accessed);
    assertThat(view.readAttributes().lastModifiedTime()).isEqualTo(accessed);
    assertThat(view.readAttributes().lastAccessTime()).isEqualTo(accessed);
  }

  @Test
  default void timesOfALink() throws IOException {
    file();
    link("file");
    FileTime time = FileTime.fromMillis(1_000_000_000L);
    Files.getFileAttributeView(path("link"), BasicFileAttributeView.class, NOFOLLOW_LINKS)
        .setTimes(time, null, null);
    assertThat(Files.getLastModifiedTime(path("link"), NOFOLLOW_LINKS)).isEqualTo(time);
    assertThat(Files.getLastModifiedTime(path("link"))).isGreaterThan(time);
  }

  @Test
  default void changesSetTimes() throws IOException {
    file();
    FileTime old = FileTime.fromMillis(1_000_000_000L);
    Files.setLastModifiedTime(path("file"), old);
    Files.setLastModifiedTime(directory(), old);
    Files.writeString(path("file"), "other");
    assertThat(Files.getLastModifiedTime(path("file"))).isGreaterThan(old);
    assertThat(Files.getLastModifiedTime(directory())).isEqualTo(old);
    Files.delete(path("file"));
    assertThat(Files.getLastModifiedTime(directory())).isGreaterThan(old);
  }

  @ParameterizedTest
  @ValueSource(strings = {"---------", "rwxrwxrwx", "r---w---x", "rw-r--r--"})
  default void permissions(String text) throws IOException {
    file();
    Set<PosixFilePermission> permissions = PosixFilePermissions.fromString(text);
    Files.setPosixFilePermissions(path("file"), permissions);
    var file = Files.readAttributes(path("file"), PosixFileAttributes.class);
    assertThat(file.permissions()).isEqualTo(permissions);
    Files.setAttribute(
        path("file"), "posix:permissions", PosixFilePermissions.fromString("rwx------"));
    assertThat(Files.getAttribute(path("file"), "posix:permissions"))
        .isEqualTo(PosixFilePermissions.fromString("rwx------"));
  }

  @Test
  default void ownersAreKept() throws IOException {
    file();
    var view = Files.getFileAttributeView(path("file"), PosixFileAttributeView.class);
    PosixFileAttributes before = view.readAttributes();
    view.setOwner(before.owner());
    view.setGroup(before.group());
    Files.setOwner(path("file"), Files.getOwner(path("file")));
    assertThat(view.readAttributes().owner()).isEqualTo(before.owner());
    assertThat(Files.getAttribute(path("file"), "owner:owner")).isEqualTo(before.owner());
    assertThat(view.name()).isEqualTo("posix");
    assertThat(Files.getFileAttributeView(path("file"), FileOwnerAttributeView.class).name())
        .isEqualTo("owner");
    var lookup = path("file").getFileSystem().getUserPrincipalLookupService();
    assertThat(lookup.lookupPrincipalByName(before.owner().getName())).isEqualTo(before.owner());
    assertThatExceptionOfType(UserPrincipalNotFoundException.class)
        .isThrownBy(() -> lookup.lookupPrincipalByName("nobody-of-this-name"));
    assertThatExceptionOfType(UserPrincipalNotFoundException.class)
        .isThrownBy(() -> lookup.lookupPrincipalByGroupName("nobody-of-this-name"));
  }

  @Test
  default void attributesByName() throws IOException {
    file();
    assertThat(Files.readAttributes(path("file"), "size,isDirectory"))
        .isEqualTo(Map.of("size", 3L, "isDirectory", false));
    assertThat(Files.readAttributes(path("file"), "*"))
        .containsOnlyKeys(
            "size",
            "isRegularFile",
            "isDirectory",
            "isSymbolicLink",
            "isOther",
            "fileKey",
            "lastModifiedTime",
            "lastAccessTime",
            "creationTime");
    assertThat(Files.readAttributes(path("file"), "posix:*"))
        .containsKeys("size", "permissions", "owner", "group");
    assertThat(Files.readAttributes(path("file"), "unix:ino,nlink,mode,uid,gid,rdev,ctime,dev"))
        .hasSize(8)
        .containsEntry("nlink", 1);
    int mode = (Integer) Files.getAttribute(path("file"), "unix:mode");
    assertThat(mode & 0xF000).isEqualTo(0x8000);
    FileTime time = FileTime.fromMillis(1_000_000_000L);
    Files.setAttribute(path("file"), "lastModifiedTime", time);
    assertThat(Files.getAttribute(path("file"), "basic:lastModifiedTime")).isEqualTo(time);
    Files.setAttribute(path("file"), "unix:mode", 0640);
    assertThat((Integer) Files.getAttribute(path("file"), "unix:mode") & 07777).isEqualTo(0640);
  }

  @Test
  default void unknownAttributesAreRefused() throws IOException {
    file();
    for (String wrong : new String[] {"basic:color", "size,color", "basic:", "owner:size"}) {
      assertThatIllegalArgumentException()
          .as(wrong)
          .isThrownBy(() -> Files.readAttributes(path("file"), wrong));
    }
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> Files.readAttributes(path("file"), "paint:color"));
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> Files.setAttribute(path("file"), "paint:color", 1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Files.setAttribute(path("file"), "basic:size", 1L));
    assertThatExceptionOfType(ClassCastException.class)
        .isThrownBy(() -> Files.setAttribute(path("file"), "lastModifiedTime", "now"));
    assertThat(Files.getFileAttributeView(path("file"), AclFileAttributeView.class)).isNull();
  }

  @Test
  default void linkCounts() throws IOException {
    file();
    Files.createLink(path("second"), path("file"));
    Files.createDirectories(path("directory/a"));
    Files.createDirectories(path("directory/b"));
    assertThat(Files.getAttribute(path("file"), "unix:nlink")).isEqualTo(2);
    assertThat(Files.getAttribute(path("file"), "unix:ino"))
        .isEqualTo(Files.getAttribute(path("second"), "unix:ino"));
    assertThat(Files.getAttribute(path("directory"), "unix:nlink")).isEqualTo(4);
    Files.delete(path("directory/a"));
    assertThat(Files.getAttribute(path("directory"), "unix:nlink")).isEqualTo(3);
  }

  @Test
  default void access() throws IOException {
    file();
    Files.setPosixFilePermissions(path("file"), PosixFilePermissions.fromString("rw-------"));
    assertThat(Files.isReadable(path("file"))).isTrue();
    assertThat(Files.isWritable(path("file"))).isTrue();
    assertThat(Files.isExecutable(path("file"))).isFalse();
    assertThat(Files.isExecutable(directory())).isTrue();
    Files.setPosixFilePermissions(path("file"), PosixFilePermissions.fromString("rwx------"));
    assertThat(Files.isExecutable(path("file"))).isTrue();
    assertThat(Files.exists(path("missing"))).isFalse();
    assertThat(Files.notExists(path("missing"))).isTrue();
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(
            () ->
                path("file")
                    .getFileSystem()
                    .provider()
                    .checkAccess(path("missing"), AccessMode.READ));
  }

  @Test
  default void hiddenFiles() throws IOException {
    assertThat(Files.isHidden(path(".a"))).isTrue();
    assertThat(Files.isHidden(path("a"))).isFalse();
    assertThat(Files.isHidden(directory().getRoot())).isFalse();
  }

  @Test
  default void stores() throws IOException {
    FileStore store = Files.getFileStore(file());
    assertThat(store.name()).isNotEmpty();
    assertThat(store.type()).isNotEmpty();
    assertThat(store.isReadOnly()).isFalse();
    assertThat(store.getTotalSpace()).isPositive();
    assertThat(store.getUsableSpace()).isBetween(1L, store.getTotalSpace());
    assertThat(store.getUnallocatedSpace()).isBetween(1L, store.getTotalSpace());
    assertThat(store.getBlockSize()).isBetween(512L, 1L << 20);
    assertThat(store.getAttribute("totalSpace")).isEqualTo(store.getTotalSpace());
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> store.getAttribute("color"));
    for (String view : new String[] {"basic", "posix", "owner"}) {
      assertThat(store.supportsFileAttributeView(view)).isTrue();
      assertThat(path("file").getFileSystem().supportedFileAttributeViews()).contains(view);
    }
    assertThat(store.supportsFileAttributeView("paint")).isFalse();
    assertThat(store.supportsFileAttributeView(PosixFileAttributeView.class)).isTrue();
    assertThat(store.supportsFileAttributeView(AclFileAttributeView.class)).isFalse();
    assertThat(Files.getFileStore(directory())).isEqualTo(store);
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> Files.getFileStore(path("missing")));
  }

  @Test
  default void attributesOfUnix() throws IOException {
    file();
    Files.createLink(path("second"), path("file"));
    Map<String, Object> unix = Files.readAttributes(path("file"), "unix:*");
    assertThat(unix)
        .containsOnlyKeys(
            "lastModifiedTime",
            "lastAccessTime",
            "creationTime",
            "size",
            "isRegularFile",
            "isDirectory",
            "isSymbolicLink",
            "isOther",
            "fileKey",
            "permissions",
            "owner",
            "group",
            "mode",
            "ino",
            "dev",
            "rdev",
            "nlink",
            "uid",
            "gid",
            "ctime");
    assertThat(unix.get("nlink")).isEqualTo(2);
    assertThat(unix.get("rdev")).isEqualTo(0L);
    assertThat((int) unix.get("mode") & 0170000).isEqualTo(0100000);
    assertThat(unix.get("uid")).isInstanceOf(Integer.class);
    assertThat(unix.get("gid")).isInstanceOf(Integer.class);
    assertThat(unix.get("ctime")).isInstanceOf(FileTime.class);
    Map<String, Object> same = Files.readAttributes(path("second"), "unix:ino,dev,fileKey");
    assertThat(same.get("ino")).isEqualTo(unix.get("ino")).isInstanceOf(Long.class);
    assertThat(same.get("dev")).isEqualTo(unix.get("dev")).isInstanceOf(Long.class);
    assertThat(same.get("fileKey")).isEqualTo(unix.get("fileKey"));
    assertThat((int) Files.getAttribute(directory(), "unix:mode") & 0170000).isEqualTo(0040000);
  }

  @Test
  default void settingAttributesOfUnix() throws IOException {
    file();
    FileTime before = (FileTime) Files.getAttribute(path("file"), "unix:ctime");
    Files.setLastModifiedTime(path("file"), FileTime.fromMillis(0));
    Files.setAttribute(path("file"), "unix:mode", 0107640);
    assertThat(Files.getAttribute(path("file"), "unix:mode")).isEqualTo(0107640);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path("file"))))
        .isEqualTo("rw-r-----");
    assertThat((FileTime) Files.getAttribute(path("file"), "unix:ctime"))
        .isGreaterThanOrEqualTo(before);
    for (String name : new String[] {"uid", "gid"}) {
      int id = (int) Files.getAttribute(path("file"), "unix:" + name);
      Files.setAttribute(path("file"), "unix:" + name, id);
      assertThat(Files.getAttribute(path("file"), "unix:" + name)).isEqualTo(id);
    }
    for (String name : new String[] {"ino", "nlink", "rdev", "dev", "ctime", "size"}) {
      Object value = Files.getAttribute(path("file"), "unix:" + name);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> Files.setAttribute(path("file"), "unix:" + name, value));
    }
    assertThatExceptionOfType(ClassCastException.class)
        .isThrownBy(() -> Files.setAttribute(path("file"), "unix:mode", "rwx"));
    Files.setAttribute(path("file"), "unix:lastModifiedTime", FileTime.fromMillis(5000));
    assertThat(Files.getLastModifiedTime(path("file"))).isEqualTo(FileTime.fromMillis(5000));
  }

  @Test
  default void accessControlListsAreRefused() throws IOException {
    file();
    assertThat(Files.getFileAttributeView(path("file"), AclFileAttributeView.class)).isNull();
    assertThat(path("file").getFileSystem().supportedFileAttributeViews()).doesNotContain("acl");
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> Files.readAttributes(path("file"), "acl:acl"))
        .withMessageContaining("acl");
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> Files.setAttribute(path("file"), "acl:acl", java.util.List.of()))
        .withMessageContaining("acl");
  }

  @Test
  default void namesOfUsersAndGroups() throws IOException {
    var view = Files.getFileAttributeView(file(), PosixFileAttributeView.class);
    var lookup = path("file").getFileSystem().getUserPrincipalLookupService();
    if (differs(Difference.PRINCIPALS)) {
      view.setOwner(lookup.lookupPrincipalByName("4294967295"));
      view.setGroup(lookup.lookupPrincipalByGroupName("1000"));
      assertThat(view.readAttributes().owner().getName()).isEqualTo("4294967295");
      assertThat(view.readAttributes().group().getName()).isEqualTo("1000");
      assertThat(Files.getAttribute(path("file"), "unix:uid")).isEqualTo(-1);
      assertThat(lookup.lookupPrincipalByName("root").getName()).isEqualTo("0");
      assertThatExceptionOfType(UserPrincipalNotFoundException.class)
          .isThrownBy(() -> lookup.lookupPrincipalByName("4294967296"));
    }
    assertThatExceptionOfType(java.nio.file.ProviderMismatchException.class)
        .isThrownBy(() -> view.setOwner(() -> "somebody"));
    assertThat(view.readAttributes().owner()).hasSameHashCodeAs(view.getOwner());
  }

  @Test
  default void timesOfCreation() throws IOException {
    BasicFileAttributeView view = Files.getFileAttributeView(file(), BasicFileAttributeView.class);
    FileTime created = FileTime.fromMillis(1_000_000_000_123L);
    view.setTimes(null, null, created);
    assertThat(view.readAttributes().creationTime().equals(created))
        .isEqualTo(differs(Difference.BIRTH));
  }
}
