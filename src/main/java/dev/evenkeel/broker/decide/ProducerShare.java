package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.Map;

/**
 * Decides whether a data log group remembers another producer of an owner, not counting those of
 * handlers. There is always room for a producer of another user, however many one has. Every
 * replica decides so alike: the shares of users in their file do not count here.
 *
 * <pre>
 * producers of         may be
 * nodes and members    as many as there is room for
 * nobody known         as many as leave a tenth of all
 * a user               up to three times as many as there is room left for
 * </pre>
 *
 * @param owner tag of the user, see {@link ProducerIds}; 0: nobody known
 * @param own producers of that owner
 * @param all producers of all
 */
public record ProducerShare(int owner, int own, int all) {
  /**
   * Most producers remembered at any moment. Retention reduces them to half of this; until then,
   * new ones of whoever has too many are refused OVERLOADED.
   */
  public static final int PRODUCERS_HARD_MAX = 2 * RetainDecider.PRODUCERS_MAX;

  /**
   * A user alone has room for 15,000: half as many again as retention leaves of them, so that a
   * program that begins many can go on.
   */
  static final int WEIGHT = 3;

  private static final int UNKNOWN_MAX = PRODUCERS_HARD_MAX / 10 * 9;

  static ProducerShare of(DataTables tables, int owner) {
    return new ProducerShare(
        owner, tables.producersByOwner().getOrDefault(owner, 0), tables.ordinaryProducers());
  }

  /**
   * With more that are not in the tables yet.
   *
   * @param fresh how many, by owner
   */
  ProducerShare with(Map<Integer, Integer> fresh) {
    int more = fresh.values().stream().mapToInt(each -> each).sum();
    return new ProducerShare(owner, own + fresh.getOrDefault(owner, 0), all + more);
  }

  /** Whether there is room for one more. */
  public boolean fits(int level) {
    if (all >= PRODUCERS_HARD_MAX) {
      return false;
    }
    if (level < FeatureLevel.TABLE_OWNERS || ProducerIds.isOfMembers(owner)) {
      return true;
    }
    return owner == 0 ? all < UNKNOWN_MAX : own < WEIGHT * (PRODUCERS_HARD_MAX - all);
  }

  /** Why there is no room, and what to do. */
  String words(int level) {
    return level < FeatureLevel.TABLE_OWNERS || owner == 0 || ProducerIds.isOfMembers(owner)
        ? all + " producers are remembered here; try again in a minute"
        : String.format(
            "your user has %s of the %s producers that are remembered here: keep producers open"
                + " instead of opening others, and try again in a minute",
            own, all);
  }
}
