package dev.evenkeel.sim;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.assign.StickyAssignor;

/**
 * What a simulation is made of, apart from its seed.
 *
 * @param assignor that dispatchers plan with
 * @param evenOverTopics it evens out the shards of all topics together; else of each topic
 * @param parallelReleasesAreExact a graceful move redelivers nothing and its state is exact also
 *     where messages of a shard are handled in parallel, that is with order {@code key} or {@code
 *     none}; with order {@code shard} that is always checked
 * @param bug planted, to be found
 * @param focus of all seeds; null: each has its own
 */
record Setup(
    Assignor assignor,
    boolean evenOverTopics,
    boolean parallelReleasesAreExact,
    Bug bug,
    Focus focus) {

  /** The product as it is. */
  static final Setup PRODUCT = new Setup(new StickyAssignor(), true, true, Bug.NONE, null);

  Setup with(Bug other) {
    return new Setup(assignor, evenOverTopics, parallelReleasesAreExact, other, focus);
  }

  /** Null: each seed has its own. */
  Setup with(Focus other) {
    return new Setup(assignor, evenOverTopics, parallelReleasesAreExact, bug, other);
  }
}
