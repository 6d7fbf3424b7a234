package dev.extant.cli;

import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;

/// Goes through a tree in an image.
final class Tree {
  private Tree() {}

  /// What is done to each file.
  interface Visitor {
    void visit(String text, Node node) throws IOException;
  }

  /// Visits a file and, if it is a directory, then all below it; symbolic links are not followed.
  static void walk(String text, Volume volume, Node node, Visitor visitor) throws IOException {
    visitor.visit(text, node);
    if (node.type() == FileType.DIRECTORY) {
      for (FileName name : VolumeSource.names(volume, node)) {
        String childText = Operand.child(text, name);
        try (Node child = volume.lookup(node, name)) {
          walk(childText, volume, child, visitor);
        } catch (IOException e) {
          throw CommandFailure.at(childText, e);
        }
      }
    }
  }
}
