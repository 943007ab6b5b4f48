package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.level.LevelCounts;
import org.jspecify.annotations.Nullable;

/**
 * Decides which member has kept the others waiting for too long, and promises members that they are
 * not set aside for a time.
 *
 * <p>A member is late when messages wait that others may not take because of it, and it has
 * finished nothing for its stall time, of which only the time counts in which messages waited; or
 * when it has confirmed nothing of what was handed to it for as long. A promise holds: the member
 * is never set aside before its end.
 */
final class Stalls {
  /** After a pause of this process, the reports of members that waited are read first. */
  private static final long PAUSE_MILLIS = 1_000;

  private static final long MARGIN_MILLIS_MAX = 500;

  private final LevelMembers members;
  private final HandOutOrder order;
  private long waitingSinceMillis = -1;
  private long tickedMillis = Long.MIN_VALUE;
  private long judgeFromMillis = Long.MIN_VALUE;

  Stalls(LevelMembers members, HandOutOrder order) {
    this.members = members;
    this.order = order;
  }

  /** Whether messages wait that nobody may be handed. */
  void waiting(boolean wait, long now) {
    if (!wait) {
      waitingSinceMillis = -1;
    } else if (waitingSinceMillis < 0) {
      waitingSinceMillis = now;
    }
  }

  /** Who holds the round, and for how long. Null if nobody does, or nobody waits for it. */
  LevelCounts.@Nullable Holder holder(long now) {
    if (waitingSinceMillis < 0) {
      return null;
    }
    LevelCounts counts = members.counts();
    LevelCounts.Holder holder = counts.holder(now).orElse(null);
    MemberSlot turn = order.turnHolder();
    if (turn != null
        && (turn.items() >= counts.range() || turn.spanLeft() <= 0 || turn.isAlone())) {
      long quiet = now - counts.quietSinceMillisOf(turn.name);
      if (holder == null || quiet > holder.heldMillis()) {
        holder = new LevelCounts.Holder(turn.name, turn.items(), quiet);
      }
    }
    if (holder == null) {
      return null;
    }
    long held = Math.min(holder.heldMillis(), now - waitingSinceMillis);
    return new LevelCounts.Holder(holder.member(), holder.inHand(), held);
  }

  /** Whether others wait for it. */
  private boolean holds(MemberSlot slot, long now) {
    LevelCounts.Holder holder = holder(now);
    return holder != null && holder.member().equals(slot.name);
  }

  /** The group is paused: nobody can confirm anything without room. */
  void paused(long now) {
    for (MemberSlot slot : members.inTurn()) {
      if (slot.unconfirmedSinceMillis >= 0) {
        slot.unconfirmedSinceMillis = now;
      }
    }
  }

  /** Whether members may be set aside now. */
  boolean mayJudge(long now) {
    if (tickedMillis != Long.MIN_VALUE && now - tickedMillis > PAUSE_MILLIS) {
      judgeFromMillis = now + PAUSE_MILLIS;
    }
    tickedMillis = now;
    return now >= judgeFromMillis;
  }

  /** Whether {@code slot} is late, being the holder for so long; −1: it is not the holder. */
  boolean late(MemberSlot slot, long heldMillis, long now) {
    if (now < slot.permittedUntilMillis) {
      return false;
    }
    return heldMillis >= slot.stallMillis
        || slot.unconfirmedSinceMillis >= 0
            && now - slot.unconfirmedSinceMillis >= slot.stallMillis;
  }

  /** The promise to a member that has just joined, in milliseconds. */
  static long firstPermission(long stallMillis) {
    return stallMillis - margin(stallMillis);
  }

  /** It has just joined, and was promised {@link #firstPermission}. */
  static void permitted(MemberSlot slot, long now) {
    slot.permittedUntilMillis = now + slot.stallMillis;
  }

  /**
   * Promises a member that has reported, how long it is not set aside whatever happens.
   *
   * @return for how long it may start handlers, in milliseconds
   */
  long permit(MemberSlot slot, long now) {
    long earliest = now + slot.stallMillis;
    boolean keeps = slot.items() > 0 || members.counts().isIdle() && holds(slot, now);
    if (waitingSinceMillis >= 0 && keeps) {
      long quiet = Math.max(members.counts().quietSinceMillisOf(slot.name), waitingSinceMillis);
      earliest = quiet + slot.stallMillis;
    }
    if (earliest - now < slot.stallMillis / 2 && !holds(slot, now)) {
      // Nobody waits for it now. It needs some time once others do.
      earliest = now + slot.stallMillis;
    }
    if (slot.unconfirmedSinceMillis >= 0) {
      earliest = Math.min(earliest, slot.unconfirmedSinceMillis + slot.stallMillis);
    }
    slot.permittedUntilMillis = Math.max(slot.permittedUntilMillis, earliest);
    return Math.max(0, slot.permittedUntilMillis - now - margin(slot.stallMillis));
  }

  private static long margin(long stallMillis) {
    return Math.min(MARGIN_MILLIS_MAX, stallMillis / 5);
  }
}
