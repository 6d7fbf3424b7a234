package dev.extant.testkit;

import dev.extant.block.FileDevice;
import dev.extant.fsck.Fsck;
import dev.extant.fsck.FsckOptions;
import dev.extant.fsck.FsckProgress;
import dev.extant.fsck.FsckReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/// Compares our check with e2fsck -fn on images with one damage each. Image `i` depends on nothing
/// but the seed and `i`.
public final class FsckCampaign {
  /// An image on which the two do not agree on whether there is an error.
  public record Difference(
      int index, String base, FsckDamages.Damage damage, Oracles.Result e2fsck, FsckReport ours) {
    @Override
    public String toString() {
      return "image %d (%s; %s: %s): e2fsck %d %s, ours %d %s"
          .formatted(
              index,
              base,
              damage.kind(),
              damage.description(),
              e2fsck.exitCode(),
              e2fsck.output().lines().filter(Difference::tells).limit(6).toList(),
              ours.exitCode(),
              ours.findings().stream().limit(3).toList());
    }

    private static boolean tells(String line) {
      return !line.isBlank() && !line.startsWith("Pass ") && !line.startsWith("e2fsck ");
    }
  }

  /// What was found in the images of one class.
  private static final class Row {
    int images;
    int e2fsck;
    int ours;
    int onlyE2fsck;
    int onlyOurs;
  }

  private final Path folder;
  private final long seed;
  private final Map<String, Row> rows = new TreeMap<>();
  private final Map<String, Path> bases = new TreeMap<>();
  private final List<Difference> missed = new ArrayList<>();
  private final List<Difference> extra = new ArrayList<>();

  public FsckCampaign(Path folder, long seed) {
    this.folder = folder;
    this.seed = seed;
  }

  /// What e2fsck found and we did not.
  public List<Difference> missed() {
    return List.copyOf(missed);
  }

  /// What we found and e2fsck did not.
  public List<Difference> extra() {
    return List.copyOf(extra);
  }

  /// Makes and checks the images from `from` to `limit`, exclusive.
  public void run(int from, int limit) throws IOException {
    for (int i = from; i < limit; i++) {
      one(i);
    }
  }

  private void one(int index) throws IOException {
    RandomGenerator random =
        RandomGeneratorFactory.of("L64X128MixRandom").create(seed * 1_000_003 + index);
    FsckBases.Base base = FsckBases.ALL.get(index % FsckBases.ALL.size());
    Path image = folder.resolve("damaged.img");
    Files.copy(base(base), image, StandardCopyOption.REPLACE_EXISTING);
    String kind = FsckDamages.KINDS.get(random.nextInt(FsckDamages.KINDS.size()));
    FsckDamages.Damage damage = new FsckDamages(image, random).damage(kind);
    Oracles.Result e2fsck = e2fsck(image);
    boolean passes = e2fsck.exitCode() == 0;
    FsckReport ours = check(image);
    Row row = rows.computeIfAbsent(kind, _ -> new Row());
    row.images++;
    row.e2fsck += passes ? 0 : 1;
    row.ours += ours.clean() ? 0 : 1;
    Difference difference = new Difference(index, base.name(), damage, e2fsck, ours);
    if (!passes && ours.clean()) {
      row.onlyE2fsck++;
      missed.add(difference);
    } else if (passes && !ours.clean()) {
      row.onlyOurs++;
      extra.add(difference);
    }
  }

  /// The undamaged image, which both must pass.
  private Path base(FsckBases.Base base) throws IOException {
    Path image = bases.get(base.name());
    if (image == null) {
      String name = "base" + bases.size();
      image = folder.resolve(name + ".img");
      FsckBases.make(base, image, folder.resolve(name + ".tree"));
      FsckReport report = check(image);
      if (!report.clean()) {
        throw new AssertionError(base + " is undamaged, but: " + report.findings());
      }
      bases.put(base.name(), image);
    }
    return image;
  }

  /// A crash or a run without end counts as an error.
  private static Oracles.Result e2fsck(Path image) throws IOException {
    List<String> command =
        List.of(
            Oracles.find("timeout").orElseThrow().toString(),
            "-s",
            "KILL",
            "20",
            Oracles.find("e2fsck").orElseThrow().toString(),
            "-fn",
            image.toString());
    return Oracles.run(command, Map.of());
  }

  private static FsckReport check(Path image) throws IOException {
    try (FileDevice device = FileDevice.open(image, true)) {
      return Fsck.check(device, FsckOptions.defaults(), FsckProgress.NONE);
    }
  }

  /// A table in Markdown: a row for each class of damage.
  public String table() {
    StringBuilder text = new StringBuilder();
    text.append("| class | images | e2fsck errors | ours | only e2fsck | only ours |\n");
    text.append("| --- | --- | --- | --- | --- | --- |\n");
    Row sum = new Row();
    rows.forEach(
        (kind, row) -> {
          append(text, kind, row);
          sum.images += row.images;
          sum.e2fsck += row.e2fsck;
          sum.ours += row.ours;
          sum.onlyE2fsck += row.onlyE2fsck;
          sum.onlyOurs += row.onlyOurs;
        });
    append(text, "all", sum);
    return text.toString();
  }

  private static void append(StringBuilder text, String kind, Row row) {
    text.append(
        "| %s | %d | %d | %d | %d | %d |\n"
            .formatted(kind, row.images, row.e2fsck, row.ours, row.onlyE2fsck, row.onlyOurs));
  }
}
