package dev.extant.ext4;

import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.RawInode;
import java.io.IOException;
import java.util.function.IntSupplier;

/// In which group a new inode should be.
///
/// Directories follow Orlov's idea: those at the top are spread over the flex groups, those below
/// stay near their parent as long as its neighbourhood has room for more files, blocks and
/// directories than an average one would need. Files go to their directory's group, else to one
/// found by hashing, so that the files of a full group do not all crowd the next one.
final class GroupChoice {
  private static final long ROOT_INO = 2;

  /// How many flex groups are looked at, in a big file system, before any will do.
  private static final int MAX_FLEX_GROUPS = 256;

  private final GroupTable table;
  private final Geometry geometry;
  private final int flexSize;
  private final int flexCount;

  /// No inode of this group or one behind it is given out.
  private volatile int limit = Integer.MAX_VALUE;

  GroupChoice(GroupTable table) {
    this.table = table;
    this.geometry = table.geometry();
    int groups = geometry.groupCount();
    this.flexSize = (int) Math.min(1L << Math.min(geometry.logGroupsPerFlex(), 30), groups);
    this.flexCount = (groups + flexSize - 1) / flexSize;
  }

  void limit(int newLimit) {
    limit = newLimit;
  }

  /// What is free and used in one flex group, or on average.
  private record Room(long freeInodes, long freeBlocks, long directories) {}

  boolean hasFreeInodes(int group) throws IOException {
    return group < limit && !table.damaged(group) && table.freeInodes(group) > 0;
  }

  int forFile(Inode parent) throws IOException {
    int groups = geometry.groupCount();
    int home = geometry.groupOfInode(parent.ino());
    int flexStart = home / flexSize * flexSize;
    int flexEnd = Math.min(flexStart + flexSize, groups);
    for (int i = 0; i < flexEnd - flexStart; i++) {
      int group = flexStart + (home - flexStart + i) % (flexEnd - flexStart);
      if (hasFreeInodes(group)) {
        return group;
      }
    }
    long group = (home + parent.ino()) % groups;
    for (long step = 1; step < groups; step <<= 1) {
      group = (group + step) % groups;
      if (hasFreeInodes((int) group) && table.freeClusters((int) group) > 0) {
        return (int) group;
      }
    }
    return home;
  }

  int forDirectory(Inode parent, IntSupplier random) throws IOException {
    Room average =
        new Room(
            table.totalFreeInodes() / flexCount,
            table.totalFreeBlocks() / flexCount,
            table.totalUsedDirectories() / flexCount);
    int home = geometry.groupOfInode(parent.ino()) / flexSize;
    boolean top = parent.ino() == ROOT_INO || parent.hasFlag(RawInode.EXT4_TOPDIR_FL);
    int flex =
        top ? spread(average, Math.floorMod(random.getAsInt(), flexCount)) : near(average, home);
    return firstGroupWithInodes(flex >= 0 ? flex : home);
  }

  /// Of the flex groups with about average room or more the one with the fewest directories, or -1.
  private int spread(Room average, int first) throws IOException {
    long minInodes = Math.max(1, average.freeInodes - average.freeInodes / 8);
    long minBlocks = average.freeBlocks - average.freeBlocks / 8;
    int best = -1;
    long fewest = Long.MAX_VALUE;
    for (int i = 0; i < Math.min(flexCount, MAX_FLEX_GROUPS); i++) {
      int flex = (first + i) % flexCount;
      Room room = room(flex);
      if (room.freeInodes >= minInodes
          && room.freeBlocks >= minBlocks
          && room.directories < fewest) {
        best = flex;
        fewest = room.directories;
      }
    }
    return best;
  }

  /// The first flex group from the parent's on with nearly average room, or -1.
  private int near(Room average, int home) throws IOException {
    long inodesPerFlex = (long) geometry.inodesPerGroup() * flexSize;
    long blocksPerFlex = (long) geometry.blocksPerGroup() * flexSize;
    long maxDirectories = average.directories + inodesPerFlex / 16;
    long minInodes = Math.max(1, average.freeInodes - inodesPerFlex / 4);
    long minBlocks = average.freeBlocks - blocksPerFlex / 4;
    for (int i = 0; i < Math.min(flexCount, MAX_FLEX_GROUPS); i++) {
      int flex = (home + i) % flexCount;
      Room room = room(flex);
      if (room.directories < maxDirectories
          && room.freeInodes >= minInodes
          && room.freeBlocks >= minBlocks) {
        return flex;
      }
    }
    return -1;
  }

  private Room room(int flex) throws IOException {
    long freeInodes = 0;
    long freeBlocks = 0;
    long directories = 0;
    int limit = Math.min((flex + 1) * flexSize, geometry.groupCount());
    for (int group = flex * flexSize; group < limit; group++) {
      if (!table.damaged(group)) {
        freeInodes += table.freeInodes(group);
        freeBlocks += (long) table.freeClusters(group) << geometry.logBlocksPerCluster();
        directories += table.usedDirectories(group);
      }
    }
    return new Room(freeInodes, freeBlocks, directories);
  }

  private int firstGroupWithInodes(int flex) throws IOException {
    int limit = Math.min((flex + 1) * flexSize, geometry.groupCount());
    for (int group = flex * flexSize; group < limit; group++) {
      if (hasFreeInodes(group)) {
        return group;
      }
    }
    return flex * flexSize;
  }
}
