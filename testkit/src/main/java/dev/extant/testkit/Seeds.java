package dev.extant.testkit;

/// Seeds of randomised tests. The system property `extant.seed` replaces any of them, to replay a
/// failure.
public final class Seeds {
  private static final String PROPERTY = "extant.seed";

  private Seeds() {}

  /// The given seed, unless the property says otherwise: the same in every run.
  public static long fixed(long seed) {
    return announce(Long.getLong(PROPERTY, seed));
  }

  /// A new seed in every run, unless the property gives one.
  public static long random() {
    return fixed(System.nanoTime() & 0xffff_ffffL);
  }

  private static long announce(long seed) {
    String test =
        StackWalker.getInstance()
            .walk(
                frames ->
                    frames
                        .filter(frame -> !frame.getClassName().equals(Seeds.class.getName()))
                        .findFirst()
                        .map(frame -> frame.getClassName() + "." + frame.getMethodName())
                        .orElse("?"));
    System.out.println("-D" + PROPERTY + "=" + seed + " (" + test + ")");
    return seed;
  }
}
