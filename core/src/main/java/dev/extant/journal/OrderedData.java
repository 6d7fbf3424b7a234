package dev.extant.journal;

import java.io.IOException;

/// The dirty data of one file, which a committing transaction waits for (I2).
public interface OrderedData {
  /// Writes all pages that were dirty when the call began and waits until the device has them (no
  /// flush). Called on the commit thread; must not take inode locks nor start handles.
  void writeOrdered() throws IOException;
}
