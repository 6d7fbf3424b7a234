package dev.extant.cli;

import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import dev.extant.vfs.XattrMode;
import dev.extant.vfs.XattrName;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant xattr`.
@Command(
    name = "xattr",
    description = {
      "Shows, sets and deletes extended attributes, ACLs among them.",
      "Without -l, -n, -s or -d all are shown with their values, as getfattr writes them."
    })
final class XattrCommand extends SubCommand {
  /// What is done; without any of these all attributes are shown.
  private static final class Action {
    @Option(names = "-l", description = "Shows the names only.")
    private boolean list;

    @Option(
        names = "-n",
        paramLabel = "NAME",
        description = "Writes the bytes of one value, nothing else.")
    private String name;

    @Option(
        names = "-s",
        arity = "2",
        paramLabel = "NAME VALUE",
        hideParamSyntax = true,
        description =
            "Sets an attribute (-s NAME VALUE). 0x… is hexadecimal, 0s… base64, other text is as"
                + " it stands.")
    private List<String> set;

    @Option(names = "-d", paramLabel = "NAME", description = "Deletes an attribute.")
    private String delete;
  }

  @ArgGroup(exclusive = true)
  private Action action = new Action();

  @Option(names = "-L", description = "Follows a symbolic link.")
  private boolean follow;

  @Option(names = "--hex", description = "Shows all values in hexadecimal.")
  private boolean hex;

  @Option(names = "--json", description = "Writes JSON, values in base64.")
  private boolean json;

  @Parameters(paramLabel = "IMAGE:/PATH", arity = "1..*")
  private List<String> paths;

  private final List<Map<String, Object>> collected = new ArrayList<>();

  @Override
  void run() throws IOException {
    boolean changes = action.set != null || action.delete != null;
    if (json && (changes || action.name != null)) {
      throw usage("--json shows attributes; it goes with -l alone");
    }
    try (Session session = changes ? writing() : reading()) {
      each(session, paths, this::work);
    }
    if (json) {
      console().printLine(Json.of(collected));
    }
  }

  private void work(Operand operand) throws IOException {
    Volume volume = operand.volume();
    try (Node node = operand.find(follow)) {
      if (action.set != null) {
        XattrName name = XattrName.of(action.set.getFirst());
        volume.setXattr(node, name, parse(action.set.get(1)), XattrMode.SET);
      } else if (action.delete != null) {
        volume.removeXattr(node, XattrName.of(action.delete));
      } else if (action.name != null) {
        console().write(volume.xattr(node, XattrName.of(action.name)));
      } else {
        show(operand.text(), volume, node);
      }
    }
  }

  private byte[] parse(String text) {
    try {
      if (text.startsWith("0x")) {
        return HexFormat.of().parseHex(text.substring(2));
      }
      if (text.startsWith("0s")) {
        return Base64.getDecoder().decode(text.substring(2));
      }
      return text.getBytes(StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw usage(text + ": not a value in " + (text.startsWith("0x") ? "hexadecimal" : "base64"));
    }
  }

  private void show(String path, Volume volume, Node node) throws IOException {
    List<XattrName> names = volume.xattrs(node).stream().sorted().toList();
    if (json) {
      collected.add(json(path, volume, node, names));
      return;
    }
    if (!names.isEmpty()) {
      console().printLine("# file: " + path);
    }
    for (XattrName name : names) {
      console().printName(name.bytes());
      console().printLine(action.list ? "" : "=" + shown(volume.xattr(node, name)));
    }
    if (!names.isEmpty()) {
      console().printLine("");
    }
  }

  private Map<String, Object> json(String path, Volume volume, Node node, List<XattrName> names)
      throws IOException {
    Map<String, Object> values = new LinkedHashMap<>();
    for (XattrName name : names) {
      byte[] value = volume.xattr(node, name);
      values.put(name.toString(), Base64.getEncoder().encodeToString(value));
    }
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("path", path);
    all.put("xattrs", action.list ? List.copyOf(values.keySet()) : values);
    return all;
  }

  /// Text in quotes where it is plain text, else base64.
  private String shown(byte[] value) {
    if (hex) {
      return "0x" + HexFormat.of().formatHex(value);
    }
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(value)).toString();
      if (text.chars().noneMatch(Character::isISOControl)) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
      }
    } catch (CharacterCodingException e) {
      // Not text.
      return base64(value);
    }
    return base64(value);
  }

  private static String base64(byte[] value) {
    return "0s" + Base64.getEncoder().encodeToString(value);
  }
}
