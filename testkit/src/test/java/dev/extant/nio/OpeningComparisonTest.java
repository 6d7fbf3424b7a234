package dev.extant.nio;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.DELETE_ON_CLOSE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Every set of options a channel can be opened with, on every kind of file.
class OpeningComparisonTest extends HostComparison {
  private static final OpenOption[] OPTIONS = {
    READ, WRITE, APPEND, TRUNCATE_EXISTING, CREATE, CREATE_NEW, DELETE_ON_CLOSE, NOFOLLOW_LINKS
  };

  private static List<Set<OpenOption>> subsets() {
    List<Set<OpenOption>> subsets = new ArrayList<>();
    for (int bits = 0; bits < 1 << OPTIONS.length; bits++) {
      Set<OpenOption> subset = new LinkedHashSet<>();
      for (int i = 0; i < OPTIONS.length; i++) {
        if ((bits >> i & 1) != 0) {
          subset.add(OPTIONS[i]);
        }
      }
      subsets.add(subset);
    }
    return subsets;
  }

  /// Opens a file of each kind; compares what it gave, and what is there afterwards.
  private void compareAll(String what, Opener opener) {
    List<Set<OpenOption>> comparable =
        subsets().stream().filter(options -> !mayDiffer(options)).toList();
    for (Set<OpenOption> options : comparable) {
      for (SameTrees kind : SameTrees.values()) {
        String full = what + " " + options + " on " + kind;
        compare(
            full,
            directory -> {
              SameTrees.clear(directory);
              SameTrees.makeCommon(directory);
              kind.make(directory.resolve("file"));
              return opener.use(directory.resolve("file"), options);
            });
        compare("after " + full, SameTrees::describe);
      }
    }
  }

  /// [Difference#IGNORED_OPTION].
  private static boolean mayDiffer(Set<OpenOption> options) {
    return options.contains(CREATE_NEW)
        && !options.contains(WRITE)
        && !options.contains(APPEND)
        && (options.contains(DELETE_ON_CLOSE) || options.contains(NOFOLLOW_LINKS));
  }

  @FunctionalInterface
  private interface Opener {
    Object use(Path path, Set<OpenOption> options) throws Exception;
  }

  private static ByteBuffer bytes() {
    return ByteBuffer.wrap("written".getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void fileChannels() {
    compareAll(
        "channel",
        (path, options) -> {
          try (FileChannel channel = FileChannel.open(path, options)) {
            return use(channel);
          }
        });
  }

  private static List<Outcome> use(FileChannel channel) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(4);
    return List.of(
        Outcome.of(() -> channel.write(bytes())),
        Outcome.of(() -> channel.write(bytes(), 3)),
        Outcome.of(() -> channel.read(buffer, 1)),
        Outcome.of(channel::position),
        Outcome.of(() -> channel.truncate(5).position()));
  }

  @Test
  void asynchronousChannels() {
    compareAll(
        "asynchronous channel",
        (path, options) -> {
          try (AsynchronousFileChannel channel =
              AsynchronousFileChannel.open(path, options, null)) {
            ByteBuffer buffer = ByteBuffer.allocate(4);
            return List.of(
                Outcome.of(() -> channel.write(bytes(), 2).get()),
                Outcome.of(() -> channel.read(buffer, 1).get()));
          }
        });
  }

  @Test
  void channelsOfSecureDirectories() {
    compareAll(
        "in a directory",
        (path, options) -> {
          try (SecureDirectoryStream<Path> stream =
                  (SecureDirectoryStream<Path>) Files.newDirectoryStream(path.getParent());
              FileChannel channel =
                  (FileChannel) stream.newByteChannel(path.getFileName(), options)) {
            return use(channel);
          }
        });
  }
}
