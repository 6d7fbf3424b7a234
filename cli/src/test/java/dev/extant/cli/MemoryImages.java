package dev.extant.cli;

import dev.extant.testkit.MemoryVolume;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/// Volumes in memory in the place of images: each lives on between commands.
final class MemoryImages implements Images {
  private final long capacityBytes;
  private final Map<Path, MemoryVolume> volumes = new HashMap<>();

  MemoryImages(long capacityBytes) {
    this.capacityBytes = capacityBytes;
  }

  @Override
  public Volume open(Path image, MountOptions options) throws IOException {
    MemoryVolume volume =
        volumes.computeIfAbsent(
            image.toRealPath(), _ -> new MemoryVolume(MountOptions.defaults(), capacityBytes));
    return (Volume)
        Proxy.newProxyInstance(
            Volume.class.getClassLoader(),
            new Class<?>[] {Volume.class},
            (_, method, arguments) -> {
              if (method.getName().equals("close")) {
                return null;
              }
              try {
                return method.invoke(volume, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /// References to inodes that commands did not give back.
  long leaks() {
    return volumes.values().stream().mapToLong(MemoryVolume::openReferences).sum();
  }
}
