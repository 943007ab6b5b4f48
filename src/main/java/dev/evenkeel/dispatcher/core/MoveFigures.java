package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Puts the figures of moves together from what old and new owners tell in their heartbeats, in
 * whatever order that comes. Ages become times of the dispatcher's clock when they arrive, so only
 * the way of a heartbeat, about the same for both owners, is in the figures.
 *
 * <p>It keeps the last {@link #EPOCHS_MAX} epochs of the {@link #SHARDS_MAX} shards and the last
 * signs of life of the {@link #MEMBERS_MAX} members heard last. What it forgot is unknown.
 */
final class MoveFigures {
  static final int SHARDS_MAX = 50_000;
  static final int MEMBERS_MAX = 20_000;
  static final int EPOCHS_MAX = 3;

  private record Key(String group, Shard shard) {}

  /** What is known of one owner's time with a shard. Unknown is null. */
  private static final class Facts {
    Long begunOffset;
    Long fetchedMillis;
    Long endedMillis;
  }

  private static final class Newest<K, V> extends LinkedHashMap<K, V> {
    private static final long serialVersionUID = 1L;
    private final int max;

    Newest(int max) {
      super(16, 0.75f, true);
      this.max = max;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
      return size() > max;
    }
  }

  private final MoveLog moves;
  private final Map<Key, TreeMap<Long, Facts>> byShard = new Newest<>(SHARDS_MAX);
  private final Map<String, Long> heardMillis = new Newest<>(MEMBERS_MAX);

  MoveFigures(MoveLog moves) {
    this.moves = moves;
  }

  /** Takes in what a heartbeat of a member of {@code group} tells. */
  void heard(GroupState group, Heartbeat beat, long nowMillis) {
    heardMillis.put(beat.instance(), nowMillis);
    for (ShardProgress mark : beat.marks()) {
      Lease lease = group.book().get(mark.shard());
      // An epoch that was never granted is a mistake of the sender, and would push out others.
      if (lease != null && mark.epoch() > 0 && mark.epoch() <= lease.epoch()) {
        marked(group.name(), mark, nowMillis);
      }
    }
  }

  private void marked(String group, ShardProgress mark, long nowMillis) {
    Facts facts = facts(group, mark.shard(), mark.epoch());
    if (facts == null) {
      return;
    }
    if (mark.begunOffset() != null) {
      facts.begunOffset =
          facts.begunOffset == null
              ? mark.begunOffset()
              : (Long) Math.max(facts.begunOffset, mark.begunOffset());
    }
    if (facts.fetchedMillis == null && mark.fetchedAgoMillis() != null) {
      facts.fetchedMillis = nowMillis - Math.max(0, mark.fetchedAgoMillis());
    }
    if (facts.endedMillis == null && mark.endedAgoMillis() != null) {
      facts.endedMillis = nowMillis - Math.max(0, mark.endedAgoMillis());
    }
    refresh(group, mark.shard(), mark.epoch());
    refresh(group, mark.shard(), mark.epoch() + 1);
  }

  /** Of an epoch, made if need be; null if it is older than those kept. */
  private Facts facts(String group, Shard shard, long epoch) {
    TreeMap<Long, Facts> epochs =
        byShard.computeIfAbsent(new Key(group, shard), fresh -> new TreeMap<>());
    Facts facts = epochs.computeIfAbsent(epoch, fresh -> new Facts());
    if (epochs.size() > EPOCHS_MAX) {
      epochs.pollFirstEntry();
    }
    return epochs.get(epoch) == facts ? facts : null;
  }

  /**
   * The log has taken a grant.
   *
   * @param before the lease as it was, or null
   */
  void granted(Shard shard, Move move, Lease before) {
    boolean first = before == null;
    boolean released = before != null && !before.owned() && before.epoch() == move.epoch() - 1;
    Facts former = first ? null : facts(move.group(), shard, move.epoch() - 1);
    if (former != null
        && former.endedMillis == null
        && before != null
        && before.owned()
        && move.cause() != Cause.CAP) {
      // It is dead, and cannot tell: its last sign of life is the latest that is known.
      former.endedMillis = heardMillis.get(before.instance());
    }
    // Who let go in good order had nothing running, and nothing was ever handed out at first.
    Long known = first || released ? (Long) 0L : null;
    moves.add(shard, withFormerOwner(shard, move).with(null, known));
    refresh(move.group(), shard, move.epoch());
  }

  /** Who let go under a former dispatcher is known by the move that had made it the owner. */
  private Move withFormerOwner(Shard shard, Move move) {
    return move.from() != null
        ? move
        : move.takenFrom(moves.ownerBefore(move.group(), shard, move.epoch()));
  }

  /** A grant shows that no answer told of. */
  void found(Shard shard, Move move) {
    moves.add(shard, move);
    refresh(move.group(), shard, move.epoch());
  }

  private void refresh(String group, Shard shard, long epoch) {
    Move move = moves.find(group, shard, epoch);
    if (move == null || epoch <= 1) {
      return;
    }
    Facts from = facts(group, shard, epoch - 1);
    Facts to = facts(group, shard, epoch);
    Long pause = move.pauseMillis();
    if (pause == null
        && from != null
        && to != null
        && from.endedMillis != null
        && to.fetchedMillis != null) {
      pause = Math.max(0, to.fetchedMillis - from.endedMillis);
    }
    Long redelivered = move.redelivered();
    if (from != null && from.begunOffset != null && move.committed() != null) {
      redelivered = Math.max(0, from.begunOffset - move.committed());
    }
    if (!Objects.equals(pause, move.pauseMillis())
        || !Objects.equals(redelivered, move.redelivered())) {
      moves.replace(shard, move.with(pause, redelivered));
    }
  }
}
