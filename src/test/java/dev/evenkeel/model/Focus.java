package dev.evenkeel.model;

import java.util.Set;
import java.util.function.Predicate;

/**
 * What runs look at more closely than at the rest.
 *
 * @param steps that each run has, and more often than others
 * @param kinds of which all groups are
 */
record Focus(Set<Step> steps, Predicate<Kind> kinds) {
  /** At nothing: everything happens. */
  static final Focus NONE = new Focus(Set.of(), any -> true);

  /** Nobody dies, and no node ends. */
  static final Focus CALM = new Focus(Set.of(), any -> true);

  /** Whether runs may have a step of which most others stay calm without it. */
  boolean has(Step step) {
    return this == NONE || steps.contains(step);
  }

  /** The kind that the seed draws, or one that fits and that a later seed draws. */
  Kind kind(long seed) {
    long next = seed;
    while (!kinds.test(Kind.of(next))) {
      next++;
    }
    return Kind.of(next);
  }
}
