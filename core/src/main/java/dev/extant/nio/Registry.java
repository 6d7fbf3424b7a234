package dev.extant.nio;

import java.nio.file.FileSystemAlreadyExistsException;
import java.nio.file.FileSystemNotFoundException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/// The open file systems of a provider by the key in their URIs. A key is reserved while its file
/// system is being opened.
final class Registry {
  private final ReentrantLock guard = new ReentrantLock();

  /// Guarded by `guard`. Empty: reserved.
  private final Map<String, Optional<ExtantFileSystem>> byKey = new HashMap<>();

  /// @throws FileSystemAlreadyExistsException if the key is taken
  void reserve(String key) {
    guard.lock();
    try {
      if (byKey.putIfAbsent(key, Optional.empty()) != null) {
        throw new FileSystemAlreadyExistsException(
            key + " is open in this JVM already; FileSystems.getFileSystem gives it");
      }
    } finally {
      guard.unlock();
    }
  }

  /// Puts a file system at its key, which was reserved.
  void put(ExtantFileSystem fileSystem) {
    guard.lock();
    try {
      byKey.put(fileSystem.key(), Optional.of(fileSystem));
    } finally {
      guard.unlock();
    }
  }

  List<ExtantFileSystem> all() {
    guard.lock();
    try {
      return byKey.values().stream().flatMap(Optional::stream).toList();
    } finally {
      guard.unlock();
    }
  }

  void remove(String key) {
    guard.lock();
    try {
      byKey.remove(key);
    } finally {
      guard.unlock();
    }
  }

  /// @throws FileSystemNotFoundException if none is open at the key
  ExtantFileSystem get(String key) {
    guard.lock();
    try {
      return byKey
          .getOrDefault(key, Optional.empty())
          .orElseThrow(() -> new FileSystemNotFoundException(key + " is not open in this JVM"));
    } finally {
      guard.unlock();
    }
  }
}
