package dev.extant.block;

final class RamDeviceContractTest extends BlockDeviceContract {
  @Override
  protected BlockDevice create(long sizeBytes) {
    return new RamDevice("ram", sizeBytes);
  }
}
