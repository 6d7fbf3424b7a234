package dev.extant.cache;

/// The dirty pages of one file, the one that became dirty first at the front. Guarded by the lock
/// of their space. A page is in the list if and only if it is marked dirty.
final class DirtyList {
  private Page oldest;
  private Page newest;
  private int size;

  int size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /// Null if there is none.
  Page oldest() {
    return oldest;
  }

  void append(Page page) {
    page.olderDirty = newest;
    page.newerDirty = null;
    if (newest == null) {
      oldest = page;
    } else {
      newest.newerDirty = page;
    }
    newest = page;
    page.dirty = true;
    size++;
  }

  /// For a page whose write failed: it was dirty before all others were.
  void prepend(Page page) {
    page.olderDirty = null;
    page.newerDirty = oldest;
    if (oldest == null) {
      newest = page;
    } else {
      oldest.olderDirty = page;
    }
    oldest = page;
    page.dirty = true;
    size++;
  }

  void remove(Page page) {
    if (page.olderDirty == null) {
      oldest = page.newerDirty;
    } else {
      page.olderDirty.newerDirty = page.newerDirty;
    }
    if (page.newerDirty == null) {
      newest = page.olderDirty;
    } else {
      page.newerDirty.olderDirty = page.olderDirty;
    }
    page.olderDirty = null;
    page.newerDirty = null;
    page.dirty = false;
    size--;
  }
}
