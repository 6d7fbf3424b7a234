package dev.extant.block;

import dev.extant.testkit.FaultyDevice;

final class FaultyDeviceContractTest extends BlockDeviceContract {
  @Override
  protected BlockDevice create(long sizeBytes) {
    return new FaultyDevice(new RamDevice("base", sizeBytes), 1);
  }
}
