package dev.extant.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What the commands on files do, over whatever stands for an image.
abstract class CommandsContract {
  @TempDir Path host;

  Cli cli;
  Path image;

  /// Makes an empty file system at the path.
  abstract Cli make(Path image) throws IOException;

  @BeforeEach
  void makeImage() throws IOException {
    image = host.resolve("data.img");
    cli = make(image);
  }

  @AfterEach
  void check() throws IOException {
    checkImage();
  }

  /// What must hold after each test.
  abstract void checkImage() throws IOException;

  final String in(String path) {
    return image + ":" + path;
  }

  final void store(String path, String content) throws IOException {
    Path file = Files.writeString(host.resolve("content"), content);
    cli.run("cp", file, in(path)).ok();
  }

  final String content(String path) {
    return cli.run("cat", in(path)).ok().text();
  }

  final String names(String directory) {
    return cli.run("ls", in(directory)).ok().text().replace("lost+found\n", "");
  }

  @Test
  void listsWhatIsThere() throws IOException {
    cli.run("mkdir", in("/b"), in("/.hidden")).ok();
    store("/a", "hello");
    cli.run("ln", "-s", "a", in("/c")).ok();
    assertThat(names("/")).isEqualTo("a\nb\nc\n");
    assertThat(cli.run("ls", "-A", in("/")).ok().text()).contains(".hidden\n").startsWith(".hid");
    assertThat(cli.run("ls", "-a", in("/")).ok().text()).startsWith(".\n..\n");
    assertThat(cli.run("ls", "-l", in("/")).ok().text())
        .containsPattern("-rw-r--r-- 1 0 0 +5 \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d a\n")
        .containsPattern("drwxr-xr-x 2 0 0 +\\d+ .* b\n")
        .containsPattern("lrwxrwxrwx 1 0 0 +1 .* c -> a\n");
    assertThat(cli.run("ls", "-d", in("/b")).ok().text()).isEqualTo(in("/b") + "\n");
    assertThat(cli.run("ls", in("/a"), in("/b")).ok().text()).contains(in("/b") + ":\n");
    assertThat(cli.run("ls", "--json", in("/a")).ok().text())
        .contains("\"path\": \"" + in("/a"))
        .contains("\"sizeBytes\": 5")
        .contains("\"type\": \"regular file\"");
  }

  @Test
  void listsTreesInOrder() throws IOException {
    cli.run("mkdir", "-p", in("/x/y/z"), in("/x/a")).ok();
    store("/x/y/file", "");
    assertThat(cli.run("ls", "-R", in("/x")).ok().text())
        .isEqualTo(
            String.join(
                "\n",
                in("/x:"),
                "a",
                "y",
                "",
                in("/x/a:"),
                "",
                in("/x/y:"),
                "file",
                "z",
                "",
                in("/x/y/z:"),
                ""));
  }

  @Test
  void followsSymbolicLinksInsideTheImage() throws IOException {
    cli.run("mkdir", "-p", in("/d/e")).ok();
    store("/d/e/file", "through links");
    cli.run("ln", "-s", "/d", in("/absolute")).ok();
    cli.run("ln", "-s", "../d/e/", in("/d/relative")).ok();
    assertThat(content("/absolute/relative/file")).isEqualTo("through links");
    cli.run("ln", "-s", "loop", in("/loop")).ok();
    cli.run("cat", in("/loop")).failed(in("/loop"), "too many levels of symbolic links");
    assertThat(cli.run("stat", in("/loop")).ok().text()).contains("symbolic link");
  }

  @Test
  void statShowsWhatAnInodeSays() throws IOException {
    store("/a", "hello");
    cli.run("chmod", "4751", in("/a")).ok();
    cli.run("chown", "1000:4000000000", in("/a")).ok();
    cli.run("touch", "-d", "2001-02-03T04:05:06.123456789Z", in("/a")).ok();
    assertThat(cli.run("stat", in("/a")).ok().text())
        .contains("File: " + in("/a"), "Size: 5 ", "regular file", "Links: 1 ")
        .contains("(4751/-rwsr-x--x)  Uid: 1000  Gid: 4000000000")
        .contains(":06.123456789 ");
    assertThat(cli.run("stat", "--json", in("/a")).ok().text())
        .contains("\"modified\": \"2001-02-03T04:05:06.123456789Z\"")
        .contains("\"accessed\": \"2001-02-03T04:05:06.123456789Z\"")
        .contains("\"mode\": \"4751\"");
  }

  @Test
  void removes() throws IOException {
    cli.run("mkdir", "-p", in("/d/e/f")).ok();
    store("/d/e/file", "x");
    cli.run("rm", in("/d")).failed(in("/d"), "is a directory");
    cli.run("rm", in("/none")).failed(in("/none"), "no such file or directory");
    cli.run("rm", "-f", in("/none")).ok();
    cli.run("rm", "-rf", in("/d"), in("/none")).ok();
    assertThat(names("/")).isEmpty();
    cli.run("rm", "-r", in("/")).failed("root directory");
  }

  @Test
  void oneOfSeveralThatFailsDoesNotKeepTheOthers() throws IOException {
    store("/a", "x");
    cli.run("rm", in("/none"), in("/a")).failed(in("/none"));
    assertThat(names("/")).isEmpty();
  }

  @Test
  void makesDirectories() {
    cli.run("mkdir", in("/d")).ok();
    cli.run("mkdir", in("/d")).failed(in("/d"), "file exists");
    cli.run("mkdir", in("/none/d")).failed("no such file or directory");
    cli.run("mkdir", "-p", "-m", "u=rwx,g=rx,o=", in("/d/e/f"), in("/d")).ok();
    assertThat(cli.run("ls", "-ld", in("/d/e/f")).ok().text()).startsWith("drwxr-x---");
    assertThat(cli.run("ls", "-ld", in("/d/e")).ok().text()).startsWith("drwxr-xr-x");
  }

  @Test
  void links() throws IOException {
    store("/a", "one");
    cli.run("ln", in("/a"), in("/b")).ok();
    assertThat(cli.run("stat", in("/b")).ok().text()).contains("Links: 2 ");
    cli.run("ln", in("/a"), in("/b")).failed(in("/b"), "file exists");
    cli.run("mkdir", in("/d")).ok();
    cli.run("ln", in("/a"), in("/d")).ok();
    cli.run("ln", "-sf", "elsewhere", in("/b")).ok();
    assertThat(content("/d/a")).isEqualTo("one");
    assertThat(cli.run("ls", "-l", in("/b")).ok().text()).endsWith(" -> elsewhere\n");
    cli.run("ln", in("/d"), in("/e")).failed("is a directory");
  }

  @Test
  void moves() throws IOException {
    store("/a", "one");
    store("/b", "two");
    cli.run("mv", "-n", in("/a"), in("/b")).ok();
    assertThat(content("/b")).isEqualTo("two");
    cli.run("mv", in("/a"), in("/b")).ok();
    assertThat(content("/b")).isEqualTo("one");
    cli.run("mkdir", in("/d")).ok();
    store("/c", "three");
    cli.run("mv", in("/b"), in("/c"), in("/d")).ok();
    assertThat(names("/d")).isEqualTo("b\nc\n");
    cli.run("mv", in("/none"), in("/d")).failed(in("/none"), "no such file or directory");
    cli.run("mv", in("/d/b"), in("/d/c"), in("/none")).failed(in("/none"));
    cli.run("mkdir", in("/d/e")).ok();
    cli.run("mv", in("/d"), in("/d/e")).failed(in("/d"));
  }

  @Test
  void changesPermissionsInTrees() throws IOException {
    cli.run("mkdir", "-p", in("/d/e")).ok();
    store("/d/file", "x");
    cli.run("chmod", "-R", "u=rwX,g=,o-rwx", in("/d")).ok();
    cli.run("chown", "-R", "12:34", in("/d")).ok();
    assertThat(cli.run("ls", "-l", in("/d")).ok().text())
        .containsPattern("drwx------ 2 12 34 .* e\n")
        .containsPattern("-rw------- 1 12 34 .* file\n");
    cli.run("chown", ":56", in("/d/file")).ok();
    assertThat(cli.run("ls", "-l", in("/d/file")).ok().text()).contains(" 12 56 ");
    cli.run("chmod", "rwx", in("/d")).misused("rwx");
    cli.run("chown", "root", in("/d")).misused("root", "numbers");
  }

  @Test
  void touches() throws IOException {
    cli.run("touch", "-c", in("/a")).ok();
    assertThat(names("/")).isEmpty();
    cli.run("touch", "-d", "@1.5", in("/a")).ok();
    cli.run("touch", "-a", "-d", "2026-01-31T10:00:00+01:00", in("/a")).ok();
    assertThat(cli.run("stat", "--json", in("/a")).ok().text())
        .contains("\"modified\": \"1970-01-01T00:00:01.500Z\"")
        .contains("\"accessed\": \"2026-01-31T09:00:00Z\"");
    cli.run("touch", "-d", "tomorrow", in("/a")).misused("tomorrow");
  }

  @Test
  void dfCountsBlocksAndInodes() {
    assertThat(cli.run("df", image).ok().text())
        .containsPattern("Image +1K-blocks +Used +Available +Use%")
        .contains(image.toString());
    assertThat(cli.run("df", "-h", image).ok().text()).contains("Size");
    assertThat(cli.run("df", "--json", in("/")).ok().text())
        .containsPattern("\"totalBlocks\": [1-9]")
        .containsPattern("\"freeInodes\": [1-9]");
  }

  @Test
  void saysWhatWasWrong() throws IOException {
    cli.run("ls", host.resolve("none.img") + ":/").failed("none.img", "no such image");
    cli.run("ls", host + ":/").failed("is a directory, not an image");
    cli.run("ls", image).misused("IMAGE:/path");
    cli.run("ls").misused("IMAGE:/PATH");
    cli.run("ls", "--wrong", in("/")).misused("--wrong");
    cli.run("frobnicate").misused("frobnicate");
    cli.run("cat", in("/")).failed(in("/"), "is a directory");
    store("/file", "x");
    cli.run("ls", in("/file/x")).failed("not a directory");
    cli.run("ls", in("/file/")).failed("not a directory");
    assertThat(cli.run("ls", "--help").ok().text()).contains("Usage: extant ls");
    assertThat(cli.run("help", "cp").ok().text()).contains("Usage: extant cp");
    assertThat(cli.run("--version").ok().text()).startsWith("extant ");
  }

  @Test
  void showsSetsAndDeletesExtendedAttributes() throws IOException {
    store("/a", "hello");
    cli.run("xattr", "-s", "user.text", "some \"text\"", in("/a")).ok();
    cli.run("xattr", "-s", "user.bytes", "0x00ff", in("/a")).ok();
    cli.run("xattr", "-s", "trusted.b", "0sAQI=", in("/a")).ok();
    assertThat(cli.run("xattr", in("/a")).ok().text())
        .isEqualTo(
            "# file: "
                + in("/a")
                + "\ntrusted.b=0sAQI=\nuser.bytes=0sAP8=\nuser.text=\"some \\\"text\\\"\"\n\n");
    assertThat(cli.run("xattr", "-n", "user.text", in("/a")).ok().text())
        .isEqualTo("some \"text\"");
    assertThat(cli.run("xattr", "--hex", in("/a")).ok().text()).contains("user.bytes=0x00ff\n");
    assertThat(cli.run("xattr", "-l", in("/a")).ok().text()).contains("\nuser.bytes\n");
    assertThat(cli.run("xattr", "--json", in("/a")).ok().text())
        .contains("\"user.bytes\": \"AP8=\"");
    cli.run("xattr", "-d", "user.bytes", in("/a")).ok();
    assertThat(cli.run("xattr", "-l", in("/a")).ok().text()).doesNotContain("user.bytes");
    cli.run("xattr", "-d", "user.bytes", in("/a")).failed("user.bytes");
    cli.run("xattr", "-s", "user.x", "0xz", in("/a")).misused("0xz");
    cli.run("xattr", "-l", "-d", "user.text", in("/a")).misused("-d");
  }

  @Test
  void lsMarksAcls() throws IOException {
    store("/a", "hello");
    store("/b", "hello");
    String acl =
        "0x0200000001000600ffffffff020007000500000004000400ffffffff10000700ffffffff20000400ffffffff";
    cli.run("xattr", "-s", "system.posix_acl_access", acl, in("/a")).ok();
    assertThat(cli.run("ls", "-l", in("/")).ok().text())
        .contains("-rw-rwxr--+ 1 ")
        .contains("-rw-r--r--  1 ");
  }

  @Test
  void findRefusesWhatItDoesNotKnow() throws IOException {
    store("/a", "hello");
    String root = in("/");
    assertThat(cli.run("find", root, "-name", "a").ok().text()).isEqualTo(in("/a") + "\n");
    cli.run("find", root, "-frobnicate").misused("-frobnicate");
    cli.run("find", root, "--frobnicate").misused("--frobnicate");
    cli.run("find", root, "-delete").misused("-delete", "only looks");
    cli.run("find", root, "-name").misused("-name wants");
    cli.run("find", root, "-type", "f,q").misused("f,q");
    cli.run("find", root, "-size", "+k").misused("-size +");
    cli.run("find", root, "-size", "99999999999999999999").misused("too large");
    cli.run("find", root, "-perm", "u+q").misused("u+q");
    cli.run("find", root, "-user", "root").misused("numbers");
    cli.run("find", root, "-newermt", "tomorrow").misused("tomorrow");
    cli.run("find", root, "(", "-name", "a").misused("not closed");
    cli.run("find", root, "-name", "a", ")").misused(")");
    cli.run("find", root, "-name", "a", "-o").misused("behind -o");
    cli.run("find", root, "!").misused("behind !");
    cli.run("find", root, "-type", "f", in("/a")).misused(in("/a"), "before the tests");
    cli.run("find", root, "-print", "--json").misused("--json");
    cli.run("find", "-name", "a").misused("IMAGE:/PATH");
    cli.run("find", root, "-newer", in("/none")).failed(in("/none"), "no such file");
    cli.run("find", in("/none")).failed(in("/none"), "no such file");
  }

  @Test
  void duAndTreeRefuseWhatMakesNoSense() {
    cli.run("du", "-s", "-a", in("/")).misused("-s");
    cli.run("du", "-d", "-1", in("/")).misused("-1");
    cli.run("du", in("/none")).failed(in("/none"), "no such file");
    cli.run("tree", "-L", "0", in("/")).misused("-L 0");
    assertThat(cli.run("tree", in("/none")).err()).contains(in("/none") + ": no such file");
  }

  @Test
  void goesThroughDeepTrees() {
    int depth = 500;
    String path = in("/d/" + "d/".repeat(depth - 1));
    cli.run("mkdir", "-p", path).ok();
    assertThat(cli.run("find", in("/d")).ok().text().lines()).hasSize(depth);
    assertThat(cli.run("du", "--inodes", "-s", in("/d")).ok().text())
        .isEqualTo(depth + "\t" + in("/d") + "\n");
    assertThat(cli.run("tree", in("/d")).ok().text())
        .endsWith("\n" + depth + " directories, 0 files\n");
    assertThat(cli.run("ls", "-R", in("/d")).ok().text().lines()).hasSize(3 * depth - 2);
  }
}
