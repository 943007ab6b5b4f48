package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.Map;

/** The hand-overs of one group that this dispatcher began, for the report of its moves. */
final class Handovers {
  /**
   * @param cause null if the owner let go unasked
   * @param drainedMillis null if the owner let go unasked
   * @param releasedMillis null until the owner let go
   */
  private record Handover(String from, Cause cause, Long drainedMillis, Long releasedMillis) {
    Handover released(long atMillis) {
      return releasedMillis != null ? this : new Handover(from, cause, drainedMillis, atMillis);
    }
  }

  private final Map<Shard, Handover> byShard = new HashMap<>();

  /**
   * The log has taken a drain, or the owner has said that it lets go; a drain that redirects goes
   * on with the hand-over that it redirects.
   */
  void begun(Shard shard, String from, Cause cause, long nowMillis) {
    byShard.putIfAbsent(shard, new Handover(from, cause, nowMillis, null));
  }

  void released(Shard shard, long nowMillis) {
    byShard.computeIfPresent(shard, (same, handover) -> handover.released(nowMillis));
  }

  /** The owner let go, asked or not. */
  void letGo(Shard shard, String from, long nowMillis) {
    byShard.putIfAbsent(shard, new Handover(from, null, null, nowMillis));
  }

  /** It was called off, or another dispatcher ended it. */
  void dropped(Shard shard) {
    byShard.remove(shard);
  }

  /**
   * The log has taken a grant, which ends it.
   *
   * @return how long the release took, in milliseconds, or null if there was none or it is unknown
   */
  Long ended(Shard shard) {
    Handover handover = byShard.remove(shard);
    return handover == null || handover.drainedMillis() == null || handover.releasedMillis() == null
        ? null
        : handover.releasedMillis() - handover.drainedMillis();
  }

  /** Whom a grant of the shard takes it from, or null. */
  String formerOwner(Shard shard, Lease lease) {
    if (lease != null && lease.owned()) {
      return lease.owner();
    }
    Handover handover = byShard.get(shard);
    return handover == null ? null : handover.from();
  }

  /** Why the hand-over of the shard began; {@code otherwise} if there is none. */
  Cause cause(Shard shard, Cause otherwise) {
    Handover handover = byShard.get(shard);
    return handover == null || handover.cause() == null ? otherwise : handover.cause();
  }
}
