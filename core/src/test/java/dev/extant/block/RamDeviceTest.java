package dev.extant.block;

final class RamDeviceTest extends BlockDeviceContract {
  @Override
  protected BlockDevice create(long sizeBytes) {
    return new RamDevice("ram", sizeBytes);
  }
}
