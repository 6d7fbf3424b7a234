package dev.extant.block;

final class OverlayDeviceContractTest extends BlockDeviceContract {
  @Override
  protected BlockDevice create(long sizeBytes) {
    return new OverlayDevice(new RamDevice("base", sizeBytes));
  }
}
