package dev.extant.testkit;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import java.util.random.RandomGenerator;

/// The odds that an unsettled write survives a power cut, the same for all writes of one cut:
/// `whole` that it is there, else `torn` that each of its sectors is there with even odds.
record Survival(double whole, double torn) {
  static Survival draw(RandomGenerator random) {
    return switch (random.nextInt(6)) {
      case 0 -> new Survival(0, 0);
      case 1 -> new Survival(1, 0);
      case 2 -> new Survival(0.9, 0.5);
      case 3 -> new Survival(0.1, 0.5);
      default -> new Survival(random.nextDouble(), random.nextDouble());
    };
  }

  /// Leaves on the device what survives of the write.
  void apply(RecordedWrite write, BlockDevice device, RandomGenerator random)
      throws DeviceException {
    if (random.nextDouble() < whole) {
      write.applyTo(device);
    } else if (random.nextDouble() < torn) {
      write.applyTorn(device, random, 0.5);
    }
  }
}
