package dev.evenkeel.level;

/**
 * How many steps one track may be ahead of another.
 *
 * @param steps 1 to {@link #STEPS_MAX}
 */
public record Range(int steps) {
  /** Largest range. */
  public static final int STEPS_MAX = 1_000_000;

  /**
   * @throws IllegalArgumentException if {@code steps} is out of bounds
   */
  public Range {
    if (steps < 1 || steps > STEPS_MAX) {
      throw new IllegalArgumentException(
          "a range of " + steps + " steps: 1 to " + STEPS_MAX + " are allowed");
    }
  }

  /** The range of {@code steps}; see {@link Range}. */
  public static Range of(int steps) {
    return new Range(steps);
  }

  @Override
  public String toString() {
    return Integer.toString(steps);
  }
}
