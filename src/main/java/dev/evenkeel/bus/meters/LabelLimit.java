package dev.evenkeel.bus.meters;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/**
 * Bounds how many values a label takes: the first {@code max} that come keep their name as long as
 * they exist, all others are {@link #OTHER}. So a series does not change its name while it lives.
 * Not thread-safe.
 */
public final class LabelLimit {
  /** What is past the limit is summed under this name. */
  public static final String OTHER = "other";

  private final int max;
  private final Set<String> admitted = new HashSet<>();

  /**
   * @param max distinct values, 0 or more
   */
  public LabelLimit(int max) {
    this.max = max;
  }

  /** Forgets the values that are not among those that exist: their places are free again. */
  public void retain(Collection<String> existing) {
    admitted.retainAll(Set.copyOf(existing));
  }

  /** The name to show for a value. */
  public String of(String value) {
    if (admitted.contains(value)) {
      return value;
    }
    if (admitted.size() >= max) {
      return OTHER;
    }
    admitted.add(value);
    return value;
  }
}
