package dev.extant.cache;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PageMapTest {
  @Test
  void agreesWithAHashMap() {
    long seed = 5;
    Random random = new Random(seed);
    PageMap map = new PageMap();
    Map<Long, Page> model = new HashMap<>();
    for (int i = 0; i < 200_000; i++) {
      long index = random.nextInt(3) == 0 ? random.nextLong() >>> 32 : random.nextInt(700);
      Page known = model.get(index);
      assertThat(map.get(index)).as("seed %d step %d", seed, i).isSameAs(known);
      if (known == null && random.nextInt(3) > 0) {
        Page page = new Page(MemorySegment.NULL);
        page.index = index;
        map.add(page);
        model.put(index, page);
      } else if (known != null && random.nextInt(2) == 0) {
        map.remove(known);
        model.remove(index);
      }
      assertThat(map.size()).isEqualTo(model.size());
    }
    Map<Long, Page> visited = new HashMap<>();
    map.forEach(page -> visited.put(page.index, page));
    assertThat(visited).isEqualTo(model);
  }
}
