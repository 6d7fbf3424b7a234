package dev.extant.nio;

import dev.extant.testkit.MemoryVolume;
import dev.extant.vfs.Volume;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/// A volume in memory whose `fsync` futures a test completes, and which remembers how it was asked
/// for these and for `allocate`, which does nothing.
final class ControlledVolume {
  /// One call of `fsync`.
  record Sync(boolean dataOnly, CompletableFuture<Void> future) {}

  final MemoryVolume memory = new MemoryVolume();
  final List<Sync> syncs = new CopyOnWriteArrayList<>();
  final List<String> allocations = new CopyOnWriteArrayList<>();

  Volume volume() {
    return (Volume)
        Proxy.newProxyInstance(
            Volume.class.getClassLoader(), new Class<?>[] {Volume.class}, this::invoke);
  }

  private Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    if (method.getName().equals("fsync")) {
      Sync sync = new Sync((boolean) arguments[1], new CompletableFuture<>());
      syncs.add(sync);
      return sync.future();
    }
    if (method.getName().equals("allocate")) {
      allocations.add(arguments[1] + " " + arguments[2] + " " + arguments[3]);
      return null;
    }
    try {
      return method.invoke(memory, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  Sync awaitSync(int index) throws InterruptedException {
    while (syncs.size() <= index) {
      Thread.sleep(1);
    }
    return syncs.get(index);
  }
}
