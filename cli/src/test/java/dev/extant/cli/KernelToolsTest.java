package dev.extant.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.testkit.KernelMount;
import dev.extant.testkit.Oracles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `find`, `du`, `tree`, `ls -R` and `df` say of an image what the programs of that name say of its
/// mount by the kernel, byte for byte, except for the order where those have none.
class KernelToolsTest {
  private static final String TREE =
      """
      mkdir -p d/e/f .hidden/x wide empty links/one links/two
      printf hello > a
      head -c 5000 /dev/urandom > d/b.TXT
      head -c 100000 /dev/urandom > d/e/large.txt
      truncate -s 3M d/sparse
      printf x | dd of=d/sparse seek=1000000 bs=1 conv=notrunc status=none
      : > d/nothing
      ln a hard
      ln d/b.TXT d/again
      head -c 9000 /dev/urandom > links/one/file
      ln links/one/file links/two/file
      ln -s d/e short
      ln -s $(printf 'long/%.0s' {1..40}) d/long
      mknod null c 1 3
      mknod disk b 8 17
      mkfifo pipe
      printf 1 > 'sp ace'
      printf 2 > $'bad\\xff\\xfename'
      mkdir $'dir\\xc3'
      printf 3 > $'dir\\xc3/ünïcode'
      printf 4 > 'x*[y]'
      printf 5 > .hidden/x/A
      for i in {1..300}; do printf $i > wide/file-with-a-long-name-$i; done
      chmod 4755 a
      chmod 1777 d
      chmod 2750 d/e
      chmod 600 'sp ace'
      chown 12:34 d/b.TXT
      chown 70000:4000000000 d/e
      touch -d '2001-02-03 04:05:06' d/nothing
      touch -d '3 days ago' d/b.TXT
      touch -d '15 minutes ago' 'sp ace'
      touch -d '2040-01-01' pipe
      """;

  private static final List<String> FINDS =
      List.of(
          "",
          "-name *a*",
          "-name .*",
          "-name bad*name",
          "-name b?d??name",
          "-name [a-d]",
          "-name [!a-d]*",
          "-name [[:upper:]]",
          "-name x\\*[[]y]",
          "-name *ünï*",
          "-iname *.txt",
          "-path */d/*",
          "-ipath */D/E*",
          "-type f",
          "-type f,d,l",
          "-type c",
          "-size +2k",
          "-size -1M",
          "-size 5c",
          "-size 1",
          "-size +0",
          "-empty",
          "-perm 644",
          "-perm -111",
          "-perm /6000",
          "-perm -u+w,g+x",
          "-perm /000",
          "-uid 12",
          "-user 12",
          "-gid +3",
          "-gid 4000000000",
          "-links +1",
          "-links 2 -type f",
          "-inum -13",
          "-mtime -1",
          "-mtime 3",
          "-mtime 2",
          "-mtime +400",
          "-mmin +10",
          "-mmin -10",
          "-mmin 16",
          "-newer ./d/b.TXT",
          "-newermt 2030-01-01",
          "-maxdepth 0",
          "-maxdepth 1",
          "-mindepth 2 -maxdepth 3",
          "-depth -maxdepth 1",
          "! -type d",
          "-type d -o -size +4k",
          "( -type d -o -type l ) -name d*",
          "-name d -prune -o -print",
          "-name d -prune -o -type f",
          "-print0",
          "-type f -a -not -name a* -print",
          "-type l -print -o -type p -print");

  @TempDir Path folder;

  private Path image;
  private Cli cli;
  private KernelMount mount;

  @BeforeEach
  void makeImage() throws IOException {
    Oracles.requireRoot();
    Oracles.require("bash", "find", "du", "df", "ls", "tree", "debugfs");
    image = folder.resolve("disk.img");
    cli = ImageFixture.make(image, 32L << 20);
    try (KernelMount writing = KernelMount.of(image, "rw")) {
      Path script = Files.writeString(folder.resolve("script"), TREE);
      Oracles.run(
              "bash",
              "-c",
              "cd \"$1\" && . \"$2\"",
              "bash",
              writing.root(),
              script.toAbsolutePath())
          .expect(0);
    }
    mount = KernelMount.of(image, "ro");
  }

  @AfterEach
  void unmount() throws IOException {
    if (mount != null) {
      mount.close();
    }
  }

  /// What a program prints in the mounted root directory, its bytes as characters.
  private String theirs(List<String> command) throws IOException {
    Path output = folder.resolve("output");
    List<Object> arguments = new ArrayList<>(List.of("-c"));
    arguments.add("cd \"$1\" && export LC_ALL=C.UTF-8 && \"${@:3}\" > \"$2\"");
    arguments.addAll(List.of("bash", mount.root(), output));
    arguments.addAll(command);
    Oracles.run("bash", arguments.toArray()).expect(0);
    return Files.readString(output, StandardCharsets.ISO_8859_1);
  }

  /// What our command of the same name prints for the image, which stands for `./`.
  private String ours(List<String> command) {
    Object[] arguments = command.stream().map(word -> word.replace("./", image + ":/")).toArray();
    Cli.Result result = cli.run(arguments).ok();
    return new String(result.out(), StandardCharsets.ISO_8859_1).replace(image + ":/", "./");
  }

  private static List<String> words(String text) {
    return Stream.of(text.split(" ")).filter(word -> !word.isEmpty()).toList();
  }

  private static List<String> sorted(String output) {
    return Arrays.stream(output.split(output.contains("\0") ? "\0" : "\n")).sorted().toList();
  }

  @Test
  void find() throws IOException {
    int mostlyAll = theirs(List.of("find", "./")).split("\n").length - 1;
    int some = 0;
    for (String expression : FINDS) {
      List<String> command = words("find ./ " + expression);
      List<String> expected = sorted(theirs(command));
      List<String> found = sorted(ours(command));
      if (expression.contains("name")) {
        // The root directory is called / by us.
        expected = expected.stream().filter(path -> !path.equals("./")).toList();
        found = found.stream().filter(path -> !path.equals("./")).toList();
      }
      assertThat(found).as(expression).isEqualTo(expected);
      some += expected.size() > 1 && expected.size() < mostlyAll ? 1 : 0;
    }
    assertThat(some).isGreaterThan(30);
    List<String> several = words("find ./d ./a ./short -type f,l");
    assertThat(sorted(ours(several))).isEqualTo(sorted(theirs(several)));
  }

  @Test
  void findInDetail() throws IOException {
    List<String> command = words("find ./ -mindepth 1 ! -name *[^a-z.]* -ls");
    String fields = "(?m)^ *(\\d+) +(\\d+) +(\\S+) +(\\d+) +\\S+ +\\S+ +(.*?) .{12,16} (\\./.*)$";
    String theirs =
        theirs(command)
            .replaceAll("(\\d),  +", "$1, ")
            .replaceAll("(\\w{3}) ( ?\\d+ +)(\\d\\d:\\d\\d|\\d{4}) \\./", "0000-00-00 00:00 ./");
    assertThat(sorted(ours(command).replaceAll(fields, "$1 $2 $3 $4 $5 $6")))
        .isEqualTo(sorted(theirs.replaceAll(fields, "$1 $2 $3 $4 $5 $6")))
        .hasSizeGreaterThan(8);
  }

  @Test
  void du() throws IOException {
    for (String options :
        List.of(
            "-s ./",
            "-sh ./",
            "-s -l ./",
            "-s --inodes ./",
            "./d",
            "-a ./d",
            "-al ./d",
            "-d 1 ./d",
            "--max-depth=0 ./d",
            "-h ./d",
            "-ah ./wide",
            "-c ./d ./wide",
            "./d ./d/e ./empty",
            "-l ./d ./d/e",
            "--inodes -l ./",
            "-0 ./wide",
            "./a ./hard",
            "-al ./")) {
      List<String> command = words("du " + options);
      // Of the names of one file the first counts, and the order is not the same.
      String ours = ours(command).replace("/again", "/b.TXT");
      String theirs = theirs(command).replace("/again", "/b.TXT");
      assertThat(sorted(ours)).as(options).isEqualTo(sorted(theirs));
    }
  }

  @Test
  void duOfLengths() throws IOException {
    TreeSet<String> lengths = new TreeSet<>();
    for (String line :
        theirs(words("find ./ ( -type f -o -type l ) -printf %i:%s\\n")).split("\n")) {
      lengths.add(line);
    }
    long sum = lengths.stream().mapToLong(line -> Long.parseLong(line.split(":")[1])).sum();
    assertThat(ours(words("du -sb ./"))).isEqualTo(sum + "\t./\n");
    assertThat(ours(words("du -s --apparent-size ./")))
        .isEqualTo(Math.ceilDiv(sum, 1024) + "\t./\n");
    assertThat(ours(words("du -s --json ./"))).contains("\"apparentBytes\": " + sum + ",");
  }

  @Test
  void tree() throws IOException {
    for (String options : List.of("", "-a", "-d", "-L 1", "-a -L 2", "-p", "-s", "-ps", "-pha")) {
      List<String> command = words("tree " + options + " ./");
      List<String> theirs = new ArrayList<>(command);
      // Symbolic links to directories are no directories to us.
      theirs.addAll(List.of("-N", "--noreport"));
      String expected = theirs(theirs).replace("\u00c2\u00a0", " ");
      if (options.equals("-d")) {
        expected = expected.replaceAll("(?m)^.* -> d/e\n", "");
        expected = expected.replaceAll("\u00e2\u0094\u009c(?=[^\n]*wide\n$)", "\u00e2\u0094\u0094");
      }
      String found = ours(command);
      String report = found.substring(found.lastIndexOf("\n\n") + 1);
      assertThat(report)
          .matches(
              options.equals("-d") ? "\n\\d+ directories\n" : "\n\\d+ directories, \\d+ files\n");
      assertThat(found.substring(0, found.length() - report.length()))
          .as(options)
          .isEqualTo(expected);
    }
    assertThat(ours(words("tree -f ./d")).replaceAll("\n\n.*\n", "\n"))
        .isEqualTo(theirs(words("tree -f -N --noreport ./d")).replace("\u00c2\u00a0", " "));
    assertThat(ours(words("tree ./d"))).endsWith("\n3 directories, 6 files\n");
  }

  @Test
  void lsOfTrees() throws IOException {
    List<String> command = words("ls -RA ./");
    assertThat(ours(command)).isEqualTo(theirs(command).replaceAll("(?m)^\\./(?=[^\n:])", "./"));
  }

  @Test
  void df() throws IOException {
    String[] blocks = theirs(words("df -k --output=size,used,avail,pcent ./")).split("\n");
    String[] inodes = theirs(words("df --output=itotal,iused,iavail,ipcent ./")).split("\n");
    String[] human = theirs(words("df -h --output=size,used,avail,pcent ./")).split("\n");
    List<String> expected = new ArrayList<>(words(blocks[1]));
    // The kernel keeps a fiftieth of the blocks, 4,096 at most, for its own ends.
    expected.set(2, Long.toString(Long.parseLong(expected.get(2)) + (32 << 10) / 50));
    assertThat(figures(ours(words("df ./")))).isEqualTo(expected);
    assertThat(figures(ours(words("df -i ./")))).isEqualTo(words(inodes[1]));
    assertThat(figures(ours(words("df -h ./"))).subList(0, 2))
        .isEqualTo(words(human[1]).subList(0, 2));
  }

  private static List<String> figures(String output) {
    return words(output.split("\n")[1]).subList(1, 5);
  }

  @Test
  void namesOfAnyBytesInJson() {
    assertThat(ours(words("find ./ -name bad* --json")))
        .contains("\"pathBase64\": \"")
        .contains("\"sizeBytes\": 1,");
    assertThat(ours(words("find ./ -name [a] --json"))).doesNotContain("Base64");
  }

  /// A directory that contains itself, and one with two parents.
  @Test
  void endsOnDamagedTrees() throws IOException {
    mount.close();
    mount = null;
    for (String command : List.of("link /d /d/e/loop", "link /wide /second")) {
      Oracles.run("debugfs", "-w", "-R", command, image).expect(0);
    }
    String start = image + ":/";
    assertThat(cli.run("find", start).err().lines())
        .hasSize(2)
        .allMatch(
            line ->
                line.contains("/loop: ")
                    || line.endsWith(
                        "/wide: is a directory that has another path too; the image is damaged"));
    for (List<String> command :
        List.of(List.of("du"), List.of("tree"), List.of("ls", "-R"), List.of("find", "-depth"))) {
      List<Object> words = new ArrayList<>(command);
      words.add(1, start);
      Cli.Result result = cli.run(words.toArray());
      assertThat(result.code()).isEqualTo(1);
      assertThat(result.err().lines()).as("%s", command).hasSize(2);
    }
  }
}
