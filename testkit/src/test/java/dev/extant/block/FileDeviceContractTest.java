package dev.extant.block;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

final class FileDeviceContractTest extends BlockDeviceContract {
  @TempDir Path directory;
  private int nrCreated;

  @Override
  protected BlockDevice create(long sizeBytes) throws IOException {
    return FileDevice.create(directory.resolve("image" + nrCreated++), sizeBytes);
  }
}
