package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Finds moves that nobody recorded: a grant whose answer was lost, one of another dispatcher, or
 * one whose dispatcher died before it could tell. A lease with a higher epoch than the last move of
 * its shard shows them.
 *
 * <p>Of a shard without recorded moves nothing is said as long as it stays as it was found: before
 * there was a history, and when it was pushed out, leases look the same. Nor of a lease that nobody
 * holds: who did is not known.
 */
final class MissedMoves {
  /** Grants that got no answer, and are remembered. */
  static final int UNSURE_MAX = 10_000;

  private record Key(String group, Shard shard) {}

  /**
   * A grant that may have been taken.
   *
   * @param from null if nobody owned the shard
   * @param cause null if unknown
   */
  record Unsure(DataCommand.Grant grant, String from, Cause cause) {
    boolean madeThis(Lease lease) {
      // Without a lease before, it begins wherever the log says.
      return (grant.expectedEpoch() == 0 || lease.epoch() == grant.expectedEpoch() + 1)
          && grant.instance().equals(lease.instance());
    }
  }

  private final MoveLog moves;
  private final MoveFigures figures;
  private final TopicView view;

  private final Map<Key, Unsure> unsure =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Unsure> eldest) {
          return size() > UNSURE_MAX;
        }
      };

  MissedMoves(MoveLog moves, MoveFigures figures, TopicView view) {
    this.moves = moves;
    this.figures = figures;
    this.view = view;
  }

  /**
   * A request to the log failed, perhaps on the way back.
   *
   * @param grant null if it was none
   */
  void failed(Group group, Shard shard, Unsure grant, long nowMillis) {
    if (grant != null) {
      unsure.put(new Key(group.state().name(), shard), grant);
    }
    Lease lease = group.state().book().get(shard);
    look(group, shard, lease, lease, nowMillis);
  }

  /**
   * The book holds something new about a shard.
   *
   * @param before what it held, or null
   */
  void look(Group group, Shard shard, Lease before, Lease now, long nowMillis) {
    if (now == null || !now.owned() || group.plan().grants(shard)) {
      // While a grant of ours is on its way, its answer will tell.
      return;
    }
    String name = group.state().name();
    if (moves.find(name, shard, now.epoch()) != null) {
      return;
    }
    Unsure grant = unsure.remove(new Key(name, shard));
    if (grant != null && grant.madeThis(now)) {
      found(name, shard, grant.from(), now, grant.cause(), nowMillis);
      return;
    }
    Move last = moves.last(name, shard);
    boolean sawBefore = before != null && before.epoch() < now.epoch();
    if (last == null ? sawBefore : last.epoch() < now.epoch()) {
      found(name, shard, moves.ownerBefore(name, shard, now.epoch()), now, null, nowMillis);
    }
  }

  private void found(
      String group, Shard shard, String from, Lease lease, Cause cause, long nowMillis) {
    String topic = view.topics().name(shard.topicId());
    if (topic != null) {
      figures.found(
          shard,
          new Move(
              nowMillis,
              group,
              topic,
              shard.shard(),
              from,
              lease.owner(),
              cause,
              null,
              lease.epoch(),
              null,
              null,
              null));
    }
  }
}
