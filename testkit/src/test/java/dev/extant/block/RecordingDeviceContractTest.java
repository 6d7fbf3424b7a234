package dev.extant.block;

import dev.extant.testkit.RecordingDevice;

final class RecordingDeviceContractTest extends BlockDeviceContract {
  @Override
  protected BlockDevice create(long sizeBytes) {
    return new RecordingDevice(new RamDevice("base", sizeBytes));
  }
}
