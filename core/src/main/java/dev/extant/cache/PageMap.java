package dev.extant.cache;

import java.util.function.Consumer;

/// The pages of a file by index: a hash table with open addressing and no objects of its own.
final class PageMap {
  private static final int SMALLEST = 4;

  private Page[] slots = new Page[SMALLEST];
  private int size;

  int size() {
    return size;
  }

  Page get(long index) {
    int mask = slots.length - 1;
    for (int at = home(index, mask); slots[at] != null; at = at + 1 & mask) {
      if (slots[at].index == index) {
        return slots[at];
      }
    }
    return null;
  }

  /// Adds a page whose index is not in the map.
  void add(Page page) {
    if ((size + 1) * 3 > slots.length * 2) {
      grow();
    }
    place(slots, page);
    size++;
  }

  /// Takes out a page that is in the map; those that had to move aside for it move back.
  void remove(Page page) {
    int mask = slots.length - 1;
    int gap = home(page.index, mask);
    while (slots[gap] != page) {
      gap = gap + 1 & mask;
    }
    int at = gap;
    while (true) {
      at = at + 1 & mask;
      Page moved = slots[at];
      if (moved == null) {
        break;
      }
      int distanceFromHome = at - home(moved.index, mask) & mask;
      int distanceFromGap = at - gap & mask;
      if (distanceFromHome >= distanceFromGap) {
        slots[gap] = moved;
        gap = at;
      }
    }
    slots[gap] = null;
    size--;
  }

  /// Visits all pages; the visitor must not change the map.
  void forEach(Consumer<Page> visitor) {
    for (Page page : slots) {
      if (page != null) {
        visitor.accept(page);
      }
    }
  }

  private void grow() {
    Page[] larger = new Page[slots.length * 2];
    for (Page page : slots) {
      if (page != null) {
        place(larger, page);
      }
    }
    slots = larger;
  }

  private static void place(Page[] table, Page page) {
    int mask = table.length - 1;
    int at = home(page.index, mask);
    while (table[at] != null) {
      at = at + 1 & mask;
    }
    table[at] = page;
  }

  /// Neighbouring pages get neighbouring slots in short stretches.
  private static int home(long index, int mask) {
    long mixed = (index >>> 3) * 0x9E37_79B9_7F4A_7C15L;
    return (int) ((mixed >>> 32) + (index & 7)) & mask;
  }
}
