package dev.extant.nio;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import dev.extant.vfs.XattrName;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Gives a volume extended attributes.
final class XattrVolume {
  private final Volume volume;
  private final Map<Long, Map<XattrName, byte[]>> byInode = new ConcurrentHashMap<>();

  private XattrVolume(Volume volume) {
    this.volume = volume;
  }

  static Volume over(Volume volume) {
    return (Volume)
        Proxy.newProxyInstance(
            Volume.class.getClassLoader(),
            new Class<?>[] {Volume.class},
            new XattrVolume(volume)::invoke);
  }

  private Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    return switch (method.getName()) {
      case "xattrs" -> List.copyOf(attributes(arguments[0]).keySet());
      case "xattr" -> present(attributes(arguments[0]).get((XattrName) arguments[1])).clone();
      case "setXattr" -> {
        attributes(arguments[0]).put((XattrName) arguments[1], ((byte[]) arguments[2]).clone());
        yield null;
      }
      case "removeXattr" -> {
        present(attributes(arguments[0]).remove((XattrName) arguments[1]));
        yield null;
      }
      default -> {
        try {
          yield method.invoke(volume, arguments);
        } catch (InvocationTargetException e) {
          throw e.getCause();
        }
      }
    };
  }

  private Map<XattrName, byte[]> attributes(Object node) {
    return byInode.computeIfAbsent(((Node) node).ino(), _ -> new ConcurrentHashMap<>());
  }

  private static byte[] present(byte[] value) throws FsException {
    if (value == null) {
      throw new FsException(Errno.ENODATA, "there is no such attribute");
    }
    return value;
  }
}
