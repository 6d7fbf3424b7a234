package dev.extant.nio;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Attributes that users define.
interface NioUserAttributeContract extends NioFixture {
  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }

  private static UserDefinedFileAttributeView view(Path path) {
    return Files.getFileAttributeView(path, UserDefinedFileAttributeView.class);
  }

  private void assumeAttributes() throws IOException {
    FileStore store = Files.getFileStore(directory());
    boolean supported = store.supportsFileAttributeView("user");
    assertThat(store.supportsFileAttributeView(UserDefinedFileAttributeView.class))
        .isEqualTo(supported);
    assumeTrue(supported, "this file system has no extended attributes");
  }

  private Path file() throws IOException {
    return Files.writeString(path("file"), "abc");
  }

  private static String value(UserDefinedFileAttributeView view, String name) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(view.size(name));
    assertThat(view.read(name, buffer)).isEqualTo(buffer.capacity());
    return StandardCharsets.UTF_8.decode(buffer.flip()).toString();
  }

  @Test
  default void attributesOfTheUser() throws IOException {
    assumeAttributes();
    UserDefinedFileAttributeView view = view(file());
    assertThat(view.name()).isEqualTo("user");
    assertThat(view.list()).isEmpty();
    ByteBuffer source = bytes("xxtext/plainxx").position(2).limit(12);
    assertThat(view.write("mime-type", source)).isEqualTo(10);
    assertThat(source.hasRemaining()).isFalse();
    assertThat(view.write("empty", bytes(""))).isZero();
    assertThat(view.write("größe €", bytes("x"))).isEqualTo(1);
    assertThat(view.list()).containsExactlyInAnyOrder("mime-type", "empty", "größe €");
    assertThat(view.size("mime-type")).isEqualTo(10);
    assertThat(view.size("empty")).isZero();
    assertThat(value(view, "mime-type")).isEqualTo("text/plain");
    assertThat(view.read("empty", ByteBuffer.allocate(5))).isZero();
    view.write("mime-type", bytes("a/b"));
    assertThat(value(view, "mime-type")).isEqualTo("a/b");
    ByteBuffer direct = ByteBuffer.allocateDirect(10);
    assertThat(view.read("mime-type", direct)).isEqualTo(3);
    assertThat(direct.flip()).isEqualTo(bytes("a/b"));
    view.delete("mime-type");
    assertThat(view.list()).containsExactlyInAnyOrder("empty", "größe €");
    assertThat(path("file")).hasContent("abc");
  }

  @Test
  default void whatIsNotThereOrDoesNotFit() throws IOException {
    assumeAttributes();
    UserDefinedFileAttributeView view = view(file());
    view.write("name", bytes("value"));
    assertThatExceptionOfType(IOException.class).isThrownBy(() -> view.size("missing"));
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> view.read("missing", ByteBuffer.allocate(1)));
    assertThatExceptionOfType(IOException.class).isThrownBy(() -> view.delete("missing"));
    ByteBuffer small = ByteBuffer.allocate(4);
    assertThatExceptionOfType(IOException.class).isThrownBy(() -> view.read("name", small));
    assertThat(small.position()).isZero();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> view.read("name", ByteBuffer.allocate(9).asReadOnlyBuffer()));
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> view.write("n".repeat(251), bytes("x")));
    view.write("n".repeat(250), bytes("x"));
    UserDefinedFileAttributeView missing = view(path("missing"));
    assertThatExceptionOfType(IOException.class).isThrownBy(missing::list);
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> missing.write("name", bytes("x")));
  }

  @Test
  default void attributesOfTheUserByName() throws IOException {
    assumeAttributes();
    UserDefinedFileAttributeView view = view(file());
    Files.setAttribute(path("file"), "user:one", new byte[] {1, 2});
    Files.setAttribute(path("file"), "user:two", bytes("xyz"));
    assertThat(view.list()).containsExactlyInAnyOrder("one", "two");
    assertThat(Files.getAttribute(path("file"), "user:one")).isEqualTo(new byte[] {1, 2});
    Map<String, Object> all = Files.readAttributes(path("file"), "user:*");
    assertThat(all).containsOnlyKeys("one", "two");
    assertThat(all.get("two")).isEqualTo("xyz".getBytes(StandardCharsets.UTF_8));
    assertThat(Files.readAttributes(path("file"), "user:two")).containsOnlyKeys("two");
    assertThatExceptionOfType(ClassCastException.class)
        .isThrownBy(() -> Files.setAttribute(path("file"), "user:one", "text"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Files.readAttributes(path("file"), "user:"));
    assertThat(path("file").getFileSystem().supportedFileAttributeViews()).contains("user");
  }

  @Test
  default void attributesOfTheUserOnOtherThings() throws IOException {
    assumeAttributes();
    Files.createDirectory(path("directory"));
    UserDefinedFileAttributeView view = view(path("directory"));
    view.write("name", bytes("value"));
    assertThat(value(view, "name")).isEqualTo("value");
    file();
    Files.createSymbolicLink(path("link"), path("file").getFileName());
    view(path("link")).write("through", bytes("link"));
    assertThat(value(view(path("file")), "through")).isEqualTo("link");
    UserDefinedFileAttributeView link =
        Files.getFileAttributeView(
            path("link"), UserDefinedFileAttributeView.class, NOFOLLOW_LINKS);
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> link.write("name", bytes("x")));
  }

  @Test
  default void attributesOfTheUserAreCopied() throws IOException {
    assumeAttributes();
    view(file()).write("name", bytes("value"));
    Files.copy(path("file"), path("without"));
    Files.copy(path("file"), path("with"), COPY_ATTRIBUTES);
    Files.move(path("file"), path("moved"));
    assertThat(view(path("without")).list()).isEmpty();
    assertThat(value(view(path("with")), "name")).isEqualTo("value");
    assertThat(value(view(path("moved")), "name")).isEqualTo("value");
    Path other = otherDirectory();
    if (other != null) {
      Files.move(path("with"), other.resolve("there"));
      assertThat(value(view(other.resolve("there")), "name")).isEqualTo("value");
    }
  }
}
