package dev.evenkeel.assign;

import dev.evenkeel.protocol.Shard;
import java.util.Map;

/**
 * Spreads shards evenly, and moves as few as possible. The default.
 *
 * <ul>
 *   <li>From any snapshot one plan ends level: no shard could move, be it in a chain of shards from
 *       subscriber to subscriber, so that two loads which differ by two or more get closer. Of
 *       members with the same subscription none owns more than one shard more than another, counted
 *       over all topics of the group together.
 *   <li>Where all members subscribe to the same topics, no plan with these loads moves fewer
 *       shards. With mixed subscriptions that holds too as long as members and their topics
 *       multiply to at most {@value #EXACT_ARCS_MAX} pairs; beyond, members of the same
 *       subscription are planned together, and a few moves more than necessary may come of it.
 *   <li>A move is a shard that is taken from an owner that lives. A hand-over under way goes on if
 *       that costs no further move; where there is still a choice, the shards with the least lag
 *       move, and of those the first.
 * </ul>
 *
 * <p>The {@link GroupStatus} says what is to be done. The shard balancer that its five states come
 * from gave one free shard to each idle consumer, gave the rest to those below the average, and
 * moved shards from consumers above the average to consumers below it. That stops too early: where
 * the average is not a whole number, nobody may be below it by one and yet two differ by two; a
 * consumer that comes to an idle group gets one shard and waits for the next round; and a shard
 * cannot pass through a third consumer where the subscriptions differ. This assignor ends level in
 * one round.
 *
 * <p>Time grows almost linearly with the shards and members.
 */
public final class StickyAssignor implements Assignor {

  public static final String NAME = "sticky";

  /** Up to so many pairs of a member and its topic, each member is planned for itself. */
  static final int EXACT_ARCS_MAX = 2000;

  private final int exactArcsMax;

  public StickyAssignor() {
    this(EXACT_ARCS_MAX);
  }

  StickyAssignor(int exactArcsMax) {
    this.exactArcsMax = exactArcsMax;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Map<Shard, String> assign(Snapshot snapshot) {
    PlannedGroup view = PlannedGroup.of(snapshot, exactArcsMax);
    // If there is nothing to gain, hand-overs under way are called off.
    boolean stay = view.status() == GroupStatus.OK;
    return view.named(stay ? view.roster().owner : levelled(view));
  }

  /**
   * The member for each shard, both as numbers of the view's roster. Shards without an owner go
   * where load is least: an idle consumer is the least loaded there is, so it is filled first, and
   * gets its whole share, be it from others. Then shards leave the most loaded members for the
   * least loaded ones that they can reach, if need be over others, and only as many as level loads
   * need. Between members of the same subscription that is a matter of counting.
   */
  private static int[] levelled(PlannedGroup view) {
    Flow flow = view.flow();
    Levelling levelling = new Levelling(flow);
    levelling.fill();
    levelling.exchange();
    return view.owners(flow);
  }
}
