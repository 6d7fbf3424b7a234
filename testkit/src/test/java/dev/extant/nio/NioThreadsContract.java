package dev.extant.nio;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Many threads on the same files.
@Timeout(60)
interface NioThreadsContract extends NioFixture {
  @FunctionalInterface
  interface User<T> {
    T run(int number) throws Exception;
  }

  /// The results of a user run by many threads at once.
  private static <T> List<T> together(int threads, User<T> user) throws Exception {
    List<Future<T>> futures = new ArrayList<>();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < threads; i++) {
        int number = i;
        futures.add(executor.submit(() -> user.run(number)));
      }
    }
    List<T> results = new ArrayList<>();
    for (Future<T> future : futures) {
      results.add(future.get());
    }
    return results;
  }

  private static ByteBuffer line(String text) {
    return ByteBuffer.wrap((text + "\n").getBytes(StandardCharsets.UTF_8));
  }

  @Test
  default void onlyOneMakesAFile() throws Exception {
    for (int round = 0; round < 20; round++) {
      Path file = path("file" + round);
      List<Boolean> made =
          together(
              16,
              _ -> {
                try {
                  FileChannel.open(file, WRITE, CREATE_NEW).close();
                  return true;
                } catch (FileAlreadyExistsException e) {
                  return false;
                }
              });
      assertThat(made).containsOnlyOnce(true);
    }
  }

  @Test
  default void everyoneMakesTheSameDirectories() throws Exception {
    together(50, number -> Files.createDirectories(path("a/b/c/d" + number % 5)));
    try (Stream<Path> list = Files.list(path("a/b/c"))) {
      assertThat(list).hasSize(5);
    }
  }

  @Test
  default void onlyOneDeletesAndOnlyOneMoves() throws Exception {
    for (int round = 0; round < 20; round++) {
      Path file = Files.createFile(path("file" + round));
      List<Boolean> won =
          together(
              16,
              number -> {
                try {
                  if (number % 2 == 0) {
                    Files.delete(file);
                  } else {
                    Files.move(file, file.resolveSibling("moved" + number), ATOMIC_MOVE);
                  }
                  return true;
                } catch (NoSuchFileException e) {
                  return false;
                }
              });
      assertThat(won).containsOnlyOnce(true);
    }
  }

  @Test
  default void appendsAreAtomic() throws Exception {
    int lines = 50;
    together(
        20,
        number -> {
          try (FileChannel channel = FileChannel.open(path("log"), APPEND, CREATE)) {
            for (int i = 0; i < lines; i++) {
              channel.write(line(number + " " + i + " " + "x".repeat(number * 7)));
            }
          }
          return null;
        });
    List<String> expected =
        IntStream.range(0, 20)
            .boxed()
            .flatMap(
                number ->
                    IntStream.range(0, lines)
                        .mapToObj(i -> number + " " + i + " " + "x".repeat(number * 7)))
            .toList();
    assertThat(Files.readAllLines(path("log"))).containsExactlyInAnyOrderElementsOf(expected);
  }

  @Test
  default void oneChannelForAll() throws Exception {
    IntFunction<String> record = i -> String.format("%09d", i);
    try (FileChannel channel = FileChannel.open(path("file"), READ, WRITE, CREATE)) {
      together(
          40,
          number -> {
            for (int i = number; i < 2000; i += 40) {
              channel.write(line(record.apply(i)), 10L * i);
              ByteBuffer buffer = ByteBuffer.allocate(10);
              channel.read(buffer, 10L * i);
              assertThat(buffer.flip()).isEqualTo(line(record.apply(i)));
            }
            return null;
          });
      assertThat(channel.position()).isZero();
      AtomicInteger total = new AtomicInteger();
      List<List<String>> read =
          together(
              20,
              _ -> {
                List<String> lines = new ArrayList<>();
                ByteBuffer buffer = ByteBuffer.allocate(10);
                while (channel.read(buffer.clear()) == 10) {
                  lines.add(new String(buffer.array(), 0, 9, StandardCharsets.UTF_8));
                  total.incrementAndGet();
                }
                return lines;
              });
      assertThat(total).hasValue(2000);
      assertThat(read.stream().flatMap(List::stream))
          .containsExactlyInAnyOrderElementsOf(IntStream.range(0, 2000).mapToObj(record).toList());
    }
  }

  @Test
  default void aFileReplacedAtomicallyIsAlwaysWhole() throws Exception {
    Files.writeString(path("file"), "0".repeat(5000));
    AtomicInteger reads = new AtomicInteger();
    together(
        12,
        number -> {
          for (int i = 0; i < 30; i++) {
            if (number < 4) {
              String text = Integer.toString(number).repeat(5000);
              Path fresh = Files.writeString(path("fresh" + number), text);
              Files.move(fresh, path("file"), ATOMIC_MOVE);
            } else {
              String text = Files.readString(path("file"));
              assertThat(text).hasSize(5000).isEqualTo(text.substring(0, 1).repeat(5000));
              reads.incrementAndGet();
            }
          }
          return null;
        });
    assertThat(reads).hasValue(8 * 30);
  }

  @Test
  default void aDirectoryForAll() throws Exception {
    together(
        40,
        number -> {
          for (int i = 0; i < 20; i++) {
            Path file = Files.createFile(path(number + "-" + i));
            Files.move(file, path("moved-" + number + "-" + i));
            if (i % 2 == 0) {
              Files.delete(path("moved-" + number + "-" + i));
            }
            try (Stream<Path> list = Files.list(directory())) {
              assertThat(list.distinct().count()).isLessThanOrEqualTo(40 * 20);
            }
          }
          return null;
        });
    try (Stream<Path> list = Files.list(directory())) {
      assertThat(list).hasSize(40 * 10);
    }
  }

  @Test
  default void treesMovedIntoEachOther() throws Exception {
    for (int i = 0; i < 4; i++) {
      Files.createDirectories(path("d" + i));
    }
    together(
        16,
        number -> {
          for (int i = 0; i < 40; i++) {
            Path from = path("d" + (number + i) % 4);
            Path to = path("d" + (number * 3 + i * 7) % 4 + "/d" + (number + i) % 4);
            try {
              Files.move(i % 2 == 0 ? from : to, i % 2 == 0 ? to : from, ATOMIC_MOVE);
            } catch (IOException e) {
              // Gone, or a directory into itself: another thread was faster.
              assertThat(e).isInstanceOf(java.nio.file.FileSystemException.class);
            }
          }
          return null;
        });
    try (Stream<Path> walk = Files.walk(directory())) {
      assertThat(walk.skip(1))
          .extracting(path -> path.getFileName().toString())
          .containsExactlyInAnyOrder("d0", "d1", "d2", "d3");
    }
  }
}
