package dev.extant.nio;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

/// What an operation gave, or the class of the exception it threw, to be compared between two file
/// systems.
record Outcome(Object value, Class<? extends Exception> failure) {
  static Outcome of(Callable<?> operation) {
    try {
      return new Outcome(operation.call(), null);
    } catch (Exception e) {
      return new Outcome(null, e.getClass());
    }
  }

  /// True if one stands for the other: the same result, or an exception of the same class or of one
  /// below that of the host. A result may be a list of outcomes.
  boolean standsFor(Outcome host) {
    if (host.failure != null) {
      return failure != null && host.failure.isAssignableFrom(failure);
    }
    if (failure == null && value instanceof List<?> ours && host.value instanceof List<?> theirs) {
      return ours.size() == theirs.size()
          && IntStream.range(0, ours.size())
              .allMatch(i -> ((Outcome) ours.get(i)).standsFor((Outcome) theirs.get(i)));
    }
    return failure == null && Objects.equals(value, host.value);
  }

  @Override
  public String toString() {
    return failure == null ? String.valueOf(value) : failure.getSimpleName();
  }
}
