package dev.extant.cli;

import dev.extant.vfs.AttributeChange;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant chown`.
@Command(name = "chown", description = "Changes owners and groups, given as numbers.")
final class ChownCommand extends SubCommand {
  private static final Pattern OWNER = Pattern.compile("(\\d{1,10})?(?::(\\d{1,10}))?");

  /// The largest is not an id: it means none.
  private static final long MAX_ID = 0xFFFF_FFFEL;

  @Option(
      names = {"-R", "--recursive"},
      description = "Changes all that is below a directory too.")
  private boolean recursive;

  @Option(
      names = {"-h", "--no-dereference"},
      description = "Changes a symbolic link itself.")
  private boolean link;

  @Parameters(index = "0", paramLabel = "UID[:GID]", description = "Numbers; also :GID alone.")
  private String owner;

  @Parameters(index = "1..*", paramLabel = "IMAGE:/PATH", arity = "1..*")
  private List<String> paths;

  @Override
  void run() throws IOException {
    AttributeChange change = change();
    try (Session session = writing()) {
      each(
          session,
          paths,
          operand -> {
            Volume volume = operand.volume();
            try (Node node = operand.find(!link && !recursive)) {
              if (recursive) {
                Tree.walk(
                    operand.text(), volume, node, (_, each) -> volume.setAttributes(each, change));
              } else {
                volume.setAttributes(node, change);
              }
            }
          });
    }
  }

  private AttributeChange change() {
    Matcher matcher = OWNER.matcher(owner);
    if (owner.isEmpty() || !matcher.matches()) {
      throw usage("'" + owner + "' is not an owner (write UID, UID:GID or :GID, in numbers)");
    }
    return AttributeChange.owner(id(matcher.group(1)), id(matcher.group(2)));
  }

  private Long id(String digits) {
    if (digits == null) {
      return null;
    }
    long id = Long.parseLong(digits);
    if (id > MAX_ID) {
      throw usage("'" + digits + "' is too large for an id");
    }
    return id;
  }
}
