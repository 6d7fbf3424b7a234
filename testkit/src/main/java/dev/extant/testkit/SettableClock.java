package dev.extant.testkit;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/// A clock that moves only when told to.
public final class SettableClock implements InstantSource {
  private volatile Instant now;

  public SettableClock(Instant now) {
    this.now = now;
  }

  @Override
  public Instant instant() {
    return now;
  }

  /// For one thread at a time.
  public void advance(Duration duration) {
    now = now.plus(duration);
  }
}
