package dev.extant.cli;

import dev.extant.vfs.FileTimes;
import dev.extant.vfs.FileType;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongPredicate;
import picocli.CommandLine.TypeConversionException;

/// Reads what stands behind `extant find`: paths, then an expression as find(1) has it.
final class FindParser {
  private static final String TYPES = "fdcbpsl";
  private static final String WORDS_WITHOUT_CHANGES =
      "find only looks; give what -print0 writes to another command";

  /// What the expression may do besides testing.
  interface Actions {
    boolean print(FindTest.Candidate file, char end) throws IOException;

    boolean list(FindTest.Candidate file) throws IOException;

    boolean prune();

    boolean isEmptyDirectory(FindTest.Candidate file) throws IOException;

    /// When a file of an image, that `-newer` names, was modified.
    Instant modified(String operand) throws IOException;
  }

  /// What was asked.
  record Query(
      List<String> paths,
      FindTest test,
      boolean acts,
      int minDepth,
      int maxDepth,
      boolean contentsFirst) {}

  /// The words make no sense; the message says why.
  static final class Misuse extends Exception {
    private static final long serialVersionUID = 1L;

    Misuse(String message) {
      super(message);
    }
  }

  private final List<String> words;
  private final Actions actions;
  private final Instant now;
  private int at;
  private boolean acts;
  private int minDepth;
  private int maxDepth = Integer.MAX_VALUE;
  private boolean contentsFirst;

  FindParser(List<String> words, Actions actions, Instant now) {
    this.words = words;
    this.actions = actions;
    this.now = now;
  }

  Query parse() throws Misuse, IOException {
    List<String> paths = new ArrayList<>();
    while (at < words.size() && !isOfExpression(words.get(at))) {
      paths.add(words.get(at++));
    }
    if (paths.isEmpty()) {
      throw new Misuse("find wants an IMAGE:/PATH to start from");
    }
    FindTest test = at == words.size() ? _ -> true : alternatives();
    if (at < words.size()) {
      throw new Misuse(
          isOfExpression(words.get(at))
              ? words.get(at) + ": nothing is open that it could close"
              : words.get(at) + ": paths stand before the tests");
    }
    return new Query(paths, test, acts, minDepth, maxDepth, contentsFirst);
  }

  private static boolean isOfExpression(String word) {
    return word.startsWith("-") || word.equals("!") || word.equals("(") || word.equals(")");
  }

  private boolean isNext(String... candidates) {
    return at < words.size() && List.of(candidates).contains(words.get(at));
  }

  private FindTest alternatives() throws Misuse, IOException {
    FindTest test = sequence();
    while (isNext("-o", "-or")) {
      at++;
      test = test.or(sequence());
    }
    return test;
  }

  private FindTest sequence() throws Misuse, IOException {
    FindTest test = single();
    while (at < words.size() && isOfExpression(words.get(at)) && !isNext("-o", "-or", ")")) {
      if (isNext("-a", "-and")) {
        at++;
      }
      test = test.and(single());
    }
    return test;
  }

  private FindTest single() throws Misuse, IOException {
    boolean negated = false;
    while (isNext("!", "-not")) {
      negated = !negated;
      at++;
    }
    FindTest test;
    if (isNext("(")) {
      at++;
      test = alternatives();
      if (!isNext(")")) {
        throw new Misuse("a ( is not closed");
      }
      at++;
    } else if (at == words.size() || isNext(")", "-o", "-or", "-a", "-and")) {
      throw new Misuse("a test is missing" + (at == 0 ? "" : " behind " + words.get(at - 1)));
    } else {
      test = primary(words.get(at++));
    }
    return negated ? test.not() : test;
  }

  private FindTest primary(String word) throws Misuse, IOException {
    return switch (word) {
      case "-name", "-iname" -> name(new Glob(argument(word), word.startsWith("-i")));
      case "-path", "-wholename", "-ipath", "-iwholename" ->
          path(new Glob(argument(word), word.startsWith("-i")));
      case "-type" -> type(argument(word));
      case "-size" -> size(argument(word));
      case "-perm" -> permissions(argument(word));
      case "-empty" ->
          file ->
              switch (file.attributes().type()) {
                case REGULAR -> file.attributes().sizeBytes() == 0;
                case DIRECTORY -> actions.isEmptyDirectory(file);
                default -> false;
              };
      case "-uid", "-user", "-gid", "-group", "-links", "-inum" -> figure(word);
      case "-amin" -> minutes(word, FileTimes::accessed);
      case "-atime" -> days(word, FileTimes::accessed);
      case "-cmin" -> minutes(word, FileTimes::changed);
      case "-ctime" -> days(word, FileTimes::changed);
      case "-mmin" -> minutes(word, FileTimes::modified);
      case "-mtime" -> days(word, FileTimes::modified);
      case "-newer" -> newer(actions.modified(argument(word)));
      case "-newermt" -> newer(time(word, argument(word)));
      case "-true" -> _ -> true;
      case "-false" -> _ -> false;
      default -> option(word);
    };
  }

  /// What says yes to every file: actions and options that hold for the whole walk.
  private FindTest option(String word) throws Misuse {
    switch (word) {
      case "-maxdepth" -> maxDepth = depth(word, argument(word));
      case "-mindepth" -> minDepth = depth(word, argument(word));
      case "-depth", "-d" -> contentsFirst = true;
      case "-print" -> {
        acts = true;
        return file -> actions.print(file, '\n');
      }
      case "-print0" -> {
        acts = true;
        return file -> actions.print(file, '\0');
      }
      case "-ls" -> {
        acts = true;
        return actions::list;
      }
      case "-prune" -> {
        return _ -> actions.prune();
      }
      case "-delete", "-exec", "-execdir", "-ok", "-okdir" ->
          throw new Misuse(word + ": " + WORDS_WITHOUT_CHANGES);
      default -> throw new Misuse(word + ": not a test or an action that find knows");
    }
    return _ -> true;
  }

  private String argument(String word) throws Misuse {
    if (at == words.size()) {
      throw new Misuse(word + " wants something behind it");
    }
    return words.get(at++);
  }

  private static FindTest name(Glob glob) {
    return file -> glob.matches(file.entry().name().bytes());
  }

  private static FindTest path(Glob glob) {
    return file -> glob.matches(file.imagePath());
  }

  private static FindTest type(String letters) throws Misuse {
    Set<FileType> types = EnumSet.noneOf(FileType.class);
    for (String letter : letters.split(",", -1)) {
      FileType type =
          switch (letter) {
            case "f" -> FileType.REGULAR;
            case "d" -> FileType.DIRECTORY;
            case "c" -> FileType.CHARACTER_DEVICE;
            case "b" -> FileType.BLOCK_DEVICE;
            case "p" -> FileType.FIFO;
            case "s" -> FileType.SOCKET;
            case "l" -> FileType.SYMLINK;
            default ->
                throw new Misuse("-type " + letters + ": wants letters of " + TYPES + ", like f,d");
          };
      types.add(type);
    }
    return file -> types.contains(file.attributes().type());
  }

  private static FindTest size(String text) throws Misuse {
    int last = text.length() - 1;
    int unit = last < 0 ? -1 : "cwbkMG".indexOf(text.charAt(last));
    long bytes = unit < 0 ? 512 : new long[] {1, 2, 512, 1 << 10, 1 << 20, 1 << 30}[unit];
    LongPredicate wanted = number("-size", unit < 0 ? text : text.substring(0, last));
    return file -> wanted.test(Math.ceilDiv(file.attributes().sizeBytes(), bytes));
  }

  private static FindTest permissions(String text) throws Misuse {
    char kind = text.isEmpty() ? ' ' : text.charAt(0);
    boolean prefixed = kind == '-' || kind == '/';
    try {
      int bits = Mode.parse(prefixed ? text.substring(1) : text).apply(0, false);
      return file -> {
        int found = file.attributes().permissions();
        return switch (kind) {
          case '-' -> (found & bits) == bits;
          case '/' -> bits == 0 || (found & bits) != 0;
          default -> found == bits;
        };
      };
    } catch (TypeConversionException e) {
      throw new Misuse("-perm " + text + ": not a mode");
    }
  }

  private FindTest figure(String word) throws Misuse {
    String text = argument(word);
    if ((word.equals("-user") || word.equals("-group")) && !text.matches("\\d+")) {
      throw new Misuse(word + " " + text + ": an image knows owners by numbers only");
    }
    LongPredicate wanted = number(word, text);
    return switch (word) {
      case "-uid", "-user" -> file -> wanted.test(file.attributes().uid());
      case "-gid", "-group" -> file -> wanted.test(file.attributes().gid());
      case "-links" -> file -> wanted.test(file.attributes().nlink());
      default -> file -> wanted.test(file.attributes().ino());
    };
  }

  /// `-mtime N` and the like: how many whole days ago.
  private FindTest days(String word, Function<FileTimes, Instant> time) throws Misuse {
    LongPredicate wanted = number(word, argument(word));
    return file -> wanted.test(Math.floorDiv(age(file, time).getSeconds(), 86_400));
  }

  /// `-mmin N` and the like: more or less than N minutes ago, or in the Nth minute ago.
  private FindTest minutes(String word, Function<FileTimes, Instant> time) throws Misuse {
    String text = argument(word);
    LongPredicate wanted = number(word, text);
    boolean more = text.startsWith("+");
    return file -> {
      Duration age = age(file, time);
      boolean whole = age.getSeconds() % 60 == 0 && age.getNano() == 0;
      long begun = Math.floorDiv(age.getSeconds(), 60) + (more && whole ? 0 : 1);
      return wanted.test(text.startsWith("-") ? begun - 1 : begun);
    };
  }

  private Duration age(FindTest.Candidate file, Function<FileTimes, Instant> time) {
    return Duration.between(time.apply(file.attributes().times()), now);
  }

  private static FindTest newer(Instant than) {
    return file -> file.attributes().times().modified().isAfter(than);
  }

  private static Instant time(String word, String text) throws Misuse {
    try {
      return TimeText.parse(text);
    } catch (DateTimeException e) {
      throw new Misuse(word + " " + text + ": not a time");
    }
  }

  /// `N`, `+N` for more, `-N` for less.
  private static LongPredicate number(String word, String text) throws Misuse {
    char sign = text.isEmpty() ? ' ' : text.charAt(0);
    boolean signed = sign == '+' || sign == '-';
    long number = natural(word, text, signed ? text.substring(1) : text);
    return switch (sign) {
      case '+' -> value -> value > number;
      case '-' -> value -> value < number;
      default -> value -> value == number;
    };
  }

  private static int depth(String word, String text) throws Misuse {
    return (int) Math.min(natural(word, text, text), Integer.MAX_VALUE);
  }

  private static long natural(String word, String text, String digits) throws Misuse {
    try {
      if (digits.matches("\\d+")) {
        return Long.parseLong(digits);
      }
    } catch (NumberFormatException e) {
      throw new Misuse(word + " " + text + ": too large");
    }
    throw new Misuse(word + " " + text + ": not a number");
  }
}
