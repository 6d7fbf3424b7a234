package dev.extant.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.StandardWatchEventKinds;
import java.util.List;
import java.util.Map;
import java.util.regex.PatternSyntaxException;
import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Paths and path matchers.
interface NioPathContract extends NioFixture {
  private FileSystem fileSystem() {
    return directory().getFileSystem();
  }

  private Path p(String first, String... more) {
    return fileSystem().getPath(first, more);
  }

  @ParameterizedTest
  @CsvSource({
    "a//b///c/, a/b/c, 3",
    "/, /, 0",
    "///, /, 0",
    "'', '', 1",
    "/a/./../b, /a/./../b, 4",
    "ä/€/😀, ä/€/😀, 3"
  })
  default void parsing(String text, String shown, int names) {
    assertThat(p(text).toString()).isEqualTo(shown);
    assertThat(p(text).getNameCount()).isEqualTo(names);
  }

  @Test
  default void joining() {
    assertThat(p("a", "", "b/", "/c").toString()).isEqualTo("a/b/c");
    assertThat(p("", "", "a").toString()).isEqualTo("a");
    assertThat(p("/", "a").toString()).isEqualTo("/a");
    assertThatExceptionOfType(InvalidPathException.class).isThrownBy(() -> p("a\0b"));
  }

  @Test
  default void parts() {
    Path path = p("/a/b/c");
    assertThat(path.isAbsolute()).isTrue();
    assertThat(path.getRoot()).isEqualTo(p("/"));
    assertThat(path.getFileName()).isEqualTo(p("c"));
    assertThat(path.getParent()).isEqualTo(p("/a/b"));
    assertThat(path.getName(1)).isEqualTo(p("b"));
    assertThat(path.subpath(1, 3)).isEqualTo(p("b/c"));
    assertThat(path.iterator()).toIterable().containsExactly(p("a"), p("b"), p("c"));
    assertThat(p("/a").getParent()).isEqualTo(p("/"));
    assertThat(p("a").getParent()).isNull();
    assertThat(p("a").getRoot()).isNull();
    assertThat(p("/").getParent()).isNull();
    assertThat(p("/").getFileName()).isNull();
    assertThat(p("").getFileName()).isEqualTo(p(""));
    for (int wrong : new int[] {-1, 3}) {
      assertThatIllegalArgumentException().isThrownBy(() -> path.getName(wrong));
    }
    assertThatIllegalArgumentException().isThrownBy(() -> path.subpath(1, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> path.subpath(0, 4));
  }

  @ParameterizedTest
  @CsvSource({
    "a/./b, a/b",
    "a/b/.., a",
    "a/.., ''",
    "../a, ../a",
    "a/../../b, ../b",
    "/.., /",
    "/../a/.././b, /b",
    "., ''",
    "'', ''"
  })
  default void normalizing(String path, String normal) {
    assertThat(p(path).normalize()).isEqualTo(p(normal));
  }

  @ParameterizedTest
  @CsvSource({
    "a, b, a/b",
    "a, /b, /b",
    "a, '', a",
    "'', a, a",
    "/, a, /a",
    "/a, b/../c, /a/b/../c"
  })
  default void resolving(String path, String other, String result) {
    assertThat(p(path).resolve(other)).isEqualTo(p(result));
    assertThat(p(path).resolve(p(other))).isEqualTo(p(result));
  }

  @Test
  default void resolvingSiblings() {
    assertThat(p("a/b").resolveSibling("c")).isEqualTo(p("a/c"));
    assertThat(p("a").resolveSibling("c")).isEqualTo(p("c"));
    assertThat(p("/a").resolveSibling("")).isEqualTo(p("/"));
  }

  @ParameterizedTest
  @CsvSource({
    "/a/b, /a/b/c/d, c/d",
    "/a/b, /a/x, ../x",
    "a/b, a/b, ''",
    "a, b/c, ../b/c",
    "'', a, a",
    "a, '', ..",
    "/, /a, a",
    "/a/b, /, ../.."
  })
  default void relativizing(String from, String to, String way) {
    assertThat(p(from).relativize(p(to))).isEqualTo(p(way));
  }

  @Test
  default void relativizingNeedsPathsOfOneKind() {
    assertThatIllegalArgumentException().isThrownBy(() -> p("/a").relativize(p("a")));
    assertThatIllegalArgumentException().isThrownBy(() -> p("../a").relativize(p("b")));
  }

  @ParameterizedTest
  @CsvSource({
    "/a/b, /a, true, false",
    "/a/b, /, true, false",
    "/a/b, a, false, false",
    "/a/b, b, false, true",
    "/a/b, a/b, false, true",
    "/a/b, /a/b, true, true",
    "a/b, a, true, false",
    "a/b, '', false, false",
    "'', '', true, true",
    "/, /, true, true",
    "/a, '', false, false",
    "a/bc, a/b, false, false",
    "a/bc, c, false, false"
  })
  default void startsAndEnds(String path, String other, boolean starts, boolean ends) {
    assertThat(p(path).startsWith(other)).isEqualTo(starts);
    assertThat(p(path).endsWith(other)).isEqualTo(ends);
  }

  @Test
  default void order() {
    List<Path> sorted = List.of(p(""), p("/"), p("/a"), p("a"), p("a-b"), p("a/b"), p("b"), p("é"));
    for (int i = 0; i < sorted.size(); i++) {
      for (int j = 0; j < sorted.size(); j++) {
        assertThat(Integer.signum(sorted.get(i).compareTo(sorted.get(j))))
            .isEqualTo(Integer.compare(i, j));
        assertThat(sorted.get(i).equals(sorted.get(j))).isEqualTo(i == j);
      }
    }
    assertThat(p("a//b/")).hasSameHashCodeAs(p("a/b"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/a b/%41!/#?", "/ä/[x]", "/a!/b", "/:;&=+$,~"})
  default void uris(String text) {
    Path path = p(text);
    assertThat(Path.of(path.toUri())).isEqualTo(path);
    assertThat(path.toUri().getScheme()).isEqualTo(fileSystem().provider().getScheme());
  }

  @Test
  default void realPaths() throws IOException {
    Path real = directory().toRealPath();
    Files.createDirectories(path("a/b"));
    Files.createSymbolicLink(path("link"), p("a/b"));
    Files.createSymbolicLink(path("absolute"), path("link").toAbsolutePath());
    assertThat(path("link").toRealPath()).isEqualTo(real.resolve("a/b"));
    assertThat(path("absolute/../../a/./b").toRealPath()).isEqualTo(real.resolve("a/b"));
    Path unfollowed = path("link").toRealPath(LinkOption.NOFOLLOW_LINKS);
    assertThat(unfollowed).isEqualTo(real.resolve("link"));
    assertThat(path("a/../link").toRealPath(LinkOption.NOFOLLOW_LINKS)).isEqualTo(unfollowed);
    assertThat(Files.isSameFile(path("link/../b"), path("a/b"))).isTrue();
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> path("missing").toRealPath());
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> path("missing").toRealPath(LinkOption.NOFOLLOW_LINKS));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ' ',
      value = {
        "*.java Foo.java true",
        "*.java a/Foo.java false",
        "**.java a/Foo.java true",
        "**/*.java Foo.java false",
        "* .hidden true",
        "*.* a.b true",
        "*.{java,class} Foo.class true",
        "*.{java,class} Foo.{java,class} false",
        "{a*,b?}c aaac true",
        "{a*,b?}c bc false",
        "{a,b[,}]}x b,x true",
        "foo.? foo.x true",
        "foo.? foo. false",
        "? 😀 true",
        "a?b a/b false",
        "[abc] b true",
        "[!abc] b false",
        "[!abc] d true",
        "[a-c]x bx true",
        "[-a] - true",
        "[a-] - true",
        "[!-a] - false",
        "[*?] * true",
        "[*?] a false",
        "[^a] ^ true",
        "[^a] a true",
        "[&&a] & true",
        "[a[b] [ true",
        "[\\\\] \\ true",
        "[!a] / false",
        "\\* * true",
        "\\* a false",
        "\\{a\\} {a} true",
        "a} a} true",
        "a,b a,b true",
        "a.b axb false",
        "(a|b)+$ a false",
        "(a|b)+$ (a|b)+$ true",
        "/a/*/c /a/b/c true",
        "/a/*/c /a/b/b/c false",
        "/a/** /a/b/b/c true",
        "a*c ac true",
        "[ä-ü] ö true",
        "A a false"
      })
  default void globs(String glob, String path, boolean matches) {
    assertThat(fileSystem().getPathMatcher("glob:" + glob).matches(p(path))).isEqualTo(matches);
  }

  @ParameterizedTest
  @ValueSource(strings = {"[a", "[]", "[b-a]", "[a/b]", "{a", "{a,{b}}", "a\\"})
  default void malformedGlobs(String glob) {
    assertThatExceptionOfType(PatternSyntaxException.class)
        .isThrownBy(() -> fileSystem().getPathMatcher("glob:" + glob));
  }

  @Test
  default void regexesAndSyntaxes() {
    assertThat(fileSystem().getPathMatcher("regex:a/.*[0-9]").matches(p("a/b/7"))).isTrue();
    assertThat(fileSystem().getPathMatcher("REGEX:b").matches(p("abc"))).isFalse();
    assertThat(fileSystem().getPathMatcher("Glob:a*").matches(p("abc"))).isTrue();
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> fileSystem().getPathMatcher("sql:a%"));
    assertThatIllegalArgumentException().isThrownBy(() -> fileSystem().getPathMatcher("a*"));
    assertThatIllegalArgumentException().isThrownBy(() -> fileSystem().getPathMatcher(":a*"));
  }

  @Test
  default void outOfTheFileSystem() throws IOException {
    Path relative = p("a/b");
    if (differs(Difference.FILES)) {
      assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(relative::toFile);
    } else {
      assertThat(relative.toFile().toPath()).isEqualTo(relative);
    }
    if (differs(Difference.WATCHING)) {
      assertThatExceptionOfType(UnsupportedOperationException.class)
          .isThrownBy(() -> fileSystem().newWatchService());
      assertThatExceptionOfType(UnsupportedOperationException.class)
          .isThrownBy(() -> directory().register(null, StandardWatchEventKinds.ENTRY_CREATE));
    } else {
      fileSystem().newWatchService().close();
    }
    assertThat(relative.toAbsolutePath().isAbsolute()).isTrue();
    assertThat(relative.toAbsolutePath().endsWith(relative)).isTrue();
    if (differs(Difference.ABSOLUTE)) {
      assertThat(relative.toAbsolutePath()).isEqualTo(p("/a/b"));
    }
    Files.createDirectory(path("directory"));
    assertThat(path("directory").toUri().toString())
        .endsWith(differs(Difference.DIRECTORY_URIS) ? "/directory" : "/directory/");
  }

  @Test
  default void pathsOfOtherProviders(@TempDir Path temporary) throws IOException {
    try (FileSystem zip =
        FileSystems.newFileSystem(temporary.resolve("x.zip"), Map.of("create", "true"))) {
      Path other = zip.getPath("/a");
      assertThat(p("/a").equals(other)).isFalse();
      assertThat(p("/a").startsWith(other)).isFalse();
      assertThat(p("/a").endsWith(other)).isFalse();
      for (ThrowableAssert.ThrowingCallable use :
          List.<ThrowableAssert.ThrowingCallable>of(
              () -> p("/a").resolve(other),
              () -> p("/a").relativize(other),
              () -> fileSystem().provider().checkAccess(other),
              () -> fileSystem().provider().createLink(p("/a"), other))) {
        assertThatExceptionOfType(ProviderMismatchException.class).isThrownBy(use);
      }
      assertThatExceptionOfType(ClassCastException.class)
          .isThrownBy(() -> p("/a").compareTo(other));
    }
  }

  @Test
  default void namesThatNoStringMakes() {
    if (differs(Difference.NAMES)) {
      assertThat(p("a\uDCFF").toString()).isEqualTo("a\uDCFF");
    } else {
      assertThatExceptionOfType(InvalidPathException.class).isThrownBy(() -> p("a\uDCFF"));
    }
    assertThatExceptionOfType(InvalidPathException.class).isThrownBy(() -> p("a\uD800"));
  }

  @ParameterizedTest
  @CsvSource({"a/b/c, x, x/b/c", "a, x, x", "/a/b, x, /x/b"})
  default void iteratingAndJoiningAgain(String text, String first, String expected) {
    Path joined = p(text).isAbsolute() ? p("/") : p("");
    int index = 0;
    for (Path name : p(text)) {
      joined = joined.resolve(index++ == 0 ? p(first) : name);
    }
    assertThat(joined).isEqualTo(p(expected));
    assertThat(index).isEqualTo(p(text).getNameCount());
  }
}
