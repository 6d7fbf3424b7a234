package dev.extant.cli;

import dev.extant.vfs.AttributeChange;
import dev.extant.vfs.FileType;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant chmod`.
@Command(name = "chmod", description = "Changes permissions.")
final class ChmodCommand extends SubCommand {
  @Option(
      names = {"-R", "--recursive"},
      description = "Changes all that is below a directory too.")
  private boolean recursive;

  @Parameters(
      index = "0",
      paramLabel = "MODE",
      converter = Mode.Converter.class,
      description = "Octal, or clauses like u+rwX,go-w (those that start with - after --).")
  private Mode mode;

  @Parameters(index = "1..*", paramLabel = "IMAGE:/PATH", arity = "1..*")
  private List<String> paths;

  @Override
  void run() throws IOException {
    try (Session session = writing()) {
      each(session, paths, this::change);
    }
  }

  private void change(Operand operand) throws IOException {
    Volume volume = operand.volume();
    try (Node node = operand.find(true)) {
      if (recursive) {
        Tree.walk(operand.text(), volume, node, (_, each) -> change(volume, each));
      } else {
        change(volume, node);
      }
    }
  }

  /// A symbolic link has no permissions of its own.
  private void change(Volume volume, Node node) throws IOException {
    if (node.type() != FileType.SYMLINK) {
      int old = volume.attributes(node).permissions();
      int permissions = mode.apply(old, node.type() == FileType.DIRECTORY);
      volume.setAttributes(node, AttributeChange.permissions(permissions));
    }
  }
}
