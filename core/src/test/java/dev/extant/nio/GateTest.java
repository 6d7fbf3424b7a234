package dev.extant.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class GateTest {
  private final AtomicInteger drained = new AtomicInteger();
  private final Gate gate = new Gate(drained::incrementAndGet);

  @Test
  void theLastOneOutDrains() {
    assertThat(gate.enter()).isTrue();
    assertThat(gate.enter()).isTrue();
    assertThat(gate.close()).isTrue();
    assertThat(gate.enter()).isFalse();
    gate.exit();
    assertThat(drained).hasValue(0);
    gate.exit();
    assertThat(drained).hasValue(1);
    assertThat(gate.close()).isFalse();
    assertThat(drained).hasValue(1);
  }

  @Test
  void anEmptyGateDrainsWhenClosed() {
    assertThat(gate.enter()).isTrue();
    gate.exit();
    assertThat(drained).hasValue(0);
    assertThat(gate.isOpen()).isTrue();
    gate.close();
    assertThat(drained).hasValue(1);
    assertThat(gate.isOpen()).isFalse();
  }

  @Test
  void itDrainsOnceWhenManyLeave() throws InterruptedException {
    AtomicInteger inside = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      threads.add(
          Thread.startVirtualThread(
              () -> {
                while (gate.enter()) {
                  inside.incrementAndGet();
                  Thread.yield();
                  inside.decrementAndGet();
                  gate.exit();
                }
              }));
    }
    Thread.sleep(20);
    gate.close();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(drained).hasValue(1);
    assertThat(inside).hasValue(0);
  }
}
