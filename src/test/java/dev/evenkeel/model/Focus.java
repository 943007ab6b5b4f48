package dev.evenkeel.model;

import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * What runs look at more closely than at the rest.
 *
 * @param steps that each run has, and more often than others
 * @param kinds of which all groups are, but where a step is about others
 */
record Focus(Set<Step> steps, Predicate<Kind> kinds) {
  /** Among so many seeds is each kind that there is. */
  private static final int DRAWS = 10_000;

  /** At nothing: everything happens. */
  static final Focus NONE = new Focus(Set.of(), any -> true);

  /** Nobody dies, and no node ends. */
  static final Focus CALM = new Focus(Set.of(), any -> true);

  /** Whether runs may have a step of which most others stay calm without it. */
  boolean has(Step step) {
    return this == NONE || steps.contains(step);
  }

  /** The kind that the seed draws, or one that is looked at and that a later seed draws. */
  Kind kind(long seed) {
    return kind(seed, any -> true);
  }

  /** As {@link #kind(long)}, one that fits; if none of those that are looked at does, another. */
  Kind kind(long seed, Predicate<Kind> fits) {
    return draws(seed)
        .limit(DRAWS)
        .filter(kinds.and(fits))
        .findFirst()
        .orElseGet(() -> draws(seed).filter(fits).findFirst().orElseThrow());
  }

  private static Stream<Kind> draws(long seed) {
    return LongStream.iterate(seed, next -> next + 1).mapToObj(Kind::of);
  }
}
