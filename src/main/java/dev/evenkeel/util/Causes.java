package dev.evenkeel.util;

import org.jspecify.annotations.Nullable;

/** Finds what lies behind a failure. */
public final class Causes {
  private Causes() {}

  /** The first of a kind among a failure and its causes; null if there is none. */
  public static <T> @Nullable T first(Class<T> kind, Throwable failure) {
    Throwable each = failure;
    while (each != null && !kind.isInstance(each)) {
      each = each.getCause();
    }
    return kind.cast(each);
  }

  /** Whether there is one of a kind among a failure and its causes. */
  public static boolean include(Class<?> kind, Throwable failure) {
    return first(kind, failure) != null;
  }
}
