package dev.extant;

import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Path;

/// A program that mounts the image it is given and says what comes of it.
final class SecondOpen {
  private SecondOpen() {}

  public static void main(String[] arguments) throws IOException {
    try {
      Extant.open(Path.of(arguments[0]), MountOptions.parse(arguments[1])).close();
      System.out.println("mounted");
    } catch (FsException e) {
      System.out.println(e.errno() + " " + e.getMessage());
    }
  }
}
