package dev.evenkeel.bus.meters;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/**
 * Limits how many values a label takes. The first {@code max} values keep their names as long as
 * they exist, all others become {@link #OTHER}, so that a series never changes its name. Not safe
 * for use from several threads.
 */
public final class LabelLimit {
  /** The name of all values beyond the limit. */
  public static final String OTHER = "other";

  private final int max;
  private final Set<String> admitted = new HashSet<>();

  /**
   * @param max distinct values, 0 or more
   */
  public LabelLimit(int max) {
    this.max = max;
  }

  /** Forgets the values that do not exist any more, which makes room for others. */
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
