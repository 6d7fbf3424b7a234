package dev.extant.block;

import dev.extant.testkit.PowerCutDevice;

final class PowerCutDeviceContractTest extends BlockDeviceContract {
  @Override
  protected BlockDevice create(long sizeBytes) {
    return new PowerCutDevice(new RamDevice("base", sizeBytes));
  }
}
