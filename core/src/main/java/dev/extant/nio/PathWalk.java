package dev.extant.nio;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/// One walk along a path, name by name, from a directory whose reference it takes over: symbolic
/// links are followed, `..` is looked up like any name. See [PathLookup] for what the walks find.
///
/// ENOENT for a missing name, ENOTDIR for a name below something else than a directory, ELOOP after
/// 40 symbolic links, as in Linux.
final class PathWalk {
  private static final int MAX_LINKS = 40;
  private static final FileName DOT = FileName.of(".");

  private final Volume volume;
  private final Deque<FileName> ahead;

  /// The names from the start, or from the root after an absolute link, to `here`, without links
  /// and dots.
  private final List<FileName> trail = new ArrayList<>();

  private Node here;
  private int linksFollowed;

  private PathWalk(Volume volume, Node start, List<FileName> names) {
    this.volume = volume;
    this.ahead = new ArrayDeque<>(names);
    this.here = start;
  }

  static Node node(Volume volume, Node start, List<FileName> names, Follow follow)
      throws FsException {
    PathWalk walk = new PathWalk(volume, start, names);
    boolean found = false;
    try {
      walk.run(follow);
      found = true;
      return walk.here;
    } finally {
      if (!found) {
        walk.here.close();
      }
    }
  }

  /// Of a walk that starts at the root.
  static List<FileName> realNames(Volume volume, Node root, List<FileName> names)
      throws FsException {
    PathWalk walk = new PathWalk(volume, root, names);
    try {
      walk.run(Follow.LAST);
      return walk.trail;
    } finally {
      walk.here.close();
    }
  }

  /// There is a name at least.
  static Place place(Volume volume, Node start, List<FileName> names, Follow follow)
      throws FsException {
    PathWalk walk = new PathWalk(volume, start, names);
    boolean found = false;
    try {
      Place place = walk.runToPlace(follow);
      found = true;
      return place;
    } finally {
      if (!found) {
        walk.here.close();
      }
    }
  }

  private void run(Follow follow) throws FsException {
    while (!ahead.isEmpty()) {
      FileName name = ahead.removeFirst();
      Node next = volume.lookup(here, name);
      if (isFollowed(next, follow)) {
        follow(next);
      } else {
        step(name, next);
      }
    }
  }

  private Place runToPlace(Follow follow) throws FsException {
    while (true) {
      FileName name = ahead.removeFirst();
      Node next = lookupLast(name);
      if (next != null && isFollowed(next, follow)) {
        follow(next);
      } else if (ahead.isEmpty()) {
        return new Place(here, name, next);
      } else {
        step(name, next);
      }
    }
  }

  /// Null if there is no such name and it is the last one.
  private Node lookupLast(FileName name) throws FsException {
    try {
      return volume.lookup(here, name);
    } catch (FsException e) {
      if (e.errno() == Errno.ENOENT && ahead.isEmpty()) {
        return null;
      }
      throw e;
    }
  }

  private boolean isFollowed(Node next, Follow follow) {
    return next.type() == FileType.SYMLINK && (follow == Follow.LAST || !ahead.isEmpty());
  }

  private void step(FileName name, Node next) {
    here.close();
    here = next;
    if (name.isDotDot()) {
      if (!trail.isEmpty()) {
        trail.removeLast();
      }
    } else if (!name.isDot()) {
      trail.add(name);
    }
  }

  /// Puts the names of a link's target before those ahead.
  private void follow(Node link) throws FsException {
    byte[] target;
    try (link) {
      target = volume.readlink(link);
    }
    if (++linksFollowed > MAX_LINKS) {
      throw new FsException(Errno.ELOOP, "more than " + MAX_LINKS + " symbolic links in one path");
    }
    if (target.length == 0) {
      throw new FsException(Errno.ENOENT, "inode " + link.ino() + " is an empty symbolic link");
    }
    if (target[target.length - 1] == '/') {
      // What the link names must be a directory.
      ahead.addFirst(DOT);
    }
    Names.split(target).reversed().forEach(ahead::addFirst);
    if (target[0] == '/') {
      here.close();
      here = volume.root();
      trail.clear();
    }
  }
}
