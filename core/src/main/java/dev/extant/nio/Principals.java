package dev.extant.nio;

import java.io.IOException;
import java.nio.file.ProviderMismatchException;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.UserPrincipal;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.Objects;

/// Users and groups by number: an image does not say their names. `root` is known as 0.
final class Principals extends UserPrincipalLookupService {
  private static final long MAX_ID = 0xffff_ffffL;

  /// A user; its name is the number.
  record User(long id) implements UserPrincipal {
    @Override
    public String getName() {
      return Long.toString(id);
    }

    @Override
    public String toString() {
      return getName();
    }
  }

  /// A group; its name is the number.
  record Group(long id) implements GroupPrincipal {
    @Override
    public String getName() {
      return Long.toString(id);
    }

    @Override
    public String toString() {
      return getName();
    }
  }

  static long uid(UserPrincipal user) {
    if (Objects.requireNonNull(user) instanceof User(long id)) {
      return id;
    }
    throw new ProviderMismatchException("not a user of an extant file system: " + user);
  }

  static long gid(GroupPrincipal group) {
    if (Objects.requireNonNull(group) instanceof Group(long id)) {
      return id;
    }
    throw new ProviderMismatchException("not a group of an extant file system: " + group);
  }

  @Override
  public UserPrincipal lookupPrincipalByName(String name) throws IOException {
    return new User(number(name));
  }

  @Override
  public GroupPrincipal lookupPrincipalByGroupName(String group) throws IOException {
    return new Group(number(group));
  }

  private static long number(String name) throws UserPrincipalNotFoundException {
    if (name.equals("root")) {
      return 0;
    }
    boolean digits =
        !name.isEmpty() && name.length() <= 10 && name.chars().allMatch(c -> c >= '0' && c <= '9');
    if (digits && Long.parseLong(name) <= MAX_ID) {
      return Long.parseLong(name);
    }
    throw new UserPrincipalNotFoundException(name);
  }
}
