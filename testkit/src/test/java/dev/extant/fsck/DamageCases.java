package dev.extant.fsck;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;

/// A list of damages of one image, each a test of its own.
final class DamageCases {
  private final Path base;
  private final List<DynamicTest> tests = new ArrayList<>();

  DamageCases(Path base) {
    this.base = base;
  }

  /// e2fsck and we find an error.
  DamageCases found(String name, Problem problem, DamagedImage.Damage damage) {
    return add(name, damage, image -> image.assertFound(problem));
  }

  /// We find an error, or warn, where e2fsck passes.
  DamageCases foundByUsOnly(String name, Problem problem, DamagedImage.Damage damage) {
    return add(
        name,
        damage,
        image -> {
          image.e2fsck().expect(0);
          image.assertOursFinds(problem);
        });
  }

  /// We find an error; whether e2fsck does depends on its version.
  DamageCases foundByUs(String name, Problem problem, DamagedImage.Damage damage) {
    return add(name, damage, image -> image.assertOursFinds(problem));
  }

  /// Nobody finds an error.
  DamageCases passed(String name, DamagedImage.Damage damage) {
    return add(name, damage, DamagedImage::assertClean);
  }

  private DamageCases add(String name, DamagedImage.Damage damage, DamagedImage.Damage check) {
    tests.add(
        DynamicTest.dynamicTest(
            name,
            () -> {
              DamagedImage image = DamagedImage.copyOf(base);
              damage.on(image);
              check.on(image);
            }));
    return this;
  }

  List<DynamicTest> tests() {
    return tests;
  }
}
