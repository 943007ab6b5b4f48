package dev.evenkeel.assign;

/**
 * What the sticky assignor does about a {@link GroupStatus}.
 *
 * <p>The shard balancer that the five states come from gave one free shard to each idle consumer,
 * dealt the rest to those below the average, and moved shards from consumers above the average to
 * consumers below it. That stops too early: where the average is not a whole number, nobody may be
 * below it by one and yet two differ by two; a consumer that comes to an idle group gets one shard
 * and waits for the next round; and a shard cannot pass through a third consumer where the
 * subscriptions differ. The strategies here end level in one round.
 */
interface Strategy {

  /**
   * @return the member for each shard, both as numbers of the view's roster
   */
  int[] owners(GroupView view);

  static Strategy of(GroupStatus status) {
    return switch (status) {
      // Nothing to gain: hand-overs under way are called off.
      case OK -> new Stay();
      // An idle consumer is the least loaded there is, so it is filled first, and not with one
      // shard only: it gets its whole share, be it from others.
      case UNASSIGNED_SHARD_WITH_CONSUMER_IDLE_EXISTS,
          UNASSIGNED_SHARD_WITHOUT_CONSUMER_IDLE_EXISTS ->
          new FillAndLevel();
      // All shards have owners; only as many move as level loads need.
      case HEAVY_LOAD_BALANCE_NEEDED, HEAVY_LOAD_WITH_CONSUMER_IDLE_BALANCE_NEEDED -> new Level();
    };
  }
}
