package dev.extant.nio;

import java.nio.file.FileSystem;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Paths of a few names in all combinations, and random patterns.
class PathComparisonTest extends HostComparison {
  private static final String[] NAMES = {"", "a", "..", "."};

  /// What is asked of paths, answered as text.
  private interface Question {
    Object ask(FileSystem fileSystem) throws Exception;
  }

  private void ask(String what, Question question) {
    compare(
        what,
        directory -> {
          Object answer = question.ask(directory.getFileSystem());
          return answer instanceof Path ? answer.toString() : answer;
        });
  }

  private static List<String> paths() {
    List<String> paths = new ArrayList<>();
    for (String root : new String[] {"", "/"}) {
      for (String one : NAMES) {
        for (String two : NAMES) {
          for (String three : NAMES) {
            paths.add(root + one + "/" + two + "/" + three);
          }
        }
      }
    }
    paths.add("");
    paths.addAll(List.of("b", "/b", "a/b", "b/a", "/b/a", "ab"));
    return paths.stream().distinct().toList();
  }

  @Test
  void onePath() {
    for (String path : paths()) {
      ask("show " + path, fs -> fs.getPath(path));
      ask("normalize " + path, fs -> fs.getPath(path).normalize());
      ask("parent of " + path, fs -> String.valueOf(fs.getPath(path).getParent()));
      ask("name of " + path, fs -> String.valueOf(fs.getPath(path).getFileName()));
      ask("root of " + path, fs -> String.valueOf(fs.getPath(path).getRoot()));
      ask("names of " + path, fs -> fs.getPath(path).getNameCount());
      for (int i = -1; i < 4; i++) {
        int index = i;
        ask("name " + i + " of " + path, fs -> fs.getPath(path).getName(index));
        for (int j = -1; j < 5; j++) {
          int end = j;
          ask(
              "names " + i + " to " + j + " of " + path,
              fs -> fs.getPath(path).subpath(index, end));
        }
      }
    }
  }

  @Test
  void twoPaths() {
    for (String one : paths()) {
      for (String two : paths()) {
        String both = one + " and " + two;
        ask("resolve " + both, fs -> fs.getPath(one).resolve(two));
        ask("sibling " + both, fs -> fs.getPath(one).resolveSibling(two));
        ask("relativize " + both, fs -> fs.getPath(one).relativize(fs.getPath(two)));
        ask("start " + both, fs -> fs.getPath(one).startsWith(two));
        ask("end " + both, fs -> fs.getPath(one).endsWith(two));
        ask("order " + both, fs -> Integer.signum(fs.getPath(one).compareTo(fs.getPath(two))));
        ask("equal " + both, fs -> fs.getPath(one).equals(fs.getPath(two)));
        ask("join " + both, fs -> fs.getPath(one, two, one));
      }
    }
  }

  private static String random(Random random, String alphabet, int most) {
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(most + 1);
    for (int i = 0; i < length; i++) {
      text.append(alphabet.charAt(random.nextInt(alphabet.length())));
    }
    return text.toString();
  }

  /// Without `[^-`, `--` and `-\`, which the JDK's own translation into a regular expression makes
  /// a mess of in brackets.
  @Test
  void globs() {
    long seed = 34;
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      String glob = random(random, "aab*?[]!-{},\\/.&(|)+$", 9).replaceAll("-[-\\\\]+", "-");
      String path = random(random, "aaab/.-*[\\{,", 6);
      ask(
          "seed " + seed + ", glob " + glob + " on " + path,
          fs -> fs.getPathMatcher("glob:" + glob).matches(fs.getPath(path)));
    }
  }
}
