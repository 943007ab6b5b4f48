package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.level.LevelCounts;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Who has kept the others waiting for too long, and for how long a member is safe from that.
 *
 * <p>A member is late when messages wait that others may not take because of it, and it has
 * finished nothing for its stall time, of which only the time counts in which messages waited; or
 * when it has confirmed nothing of what was dealt to it for as long. What it was promised holds: it
 * is never set aside before.
 */
final class Stalls {
  /** After a pause of this process, what members have reported meanwhile is to be read first. */
  private static final long PAUSE_MILLIS = 1_000;

  private static final long MARGIN_MILLIS_MAX = 500;

  private long waitingSinceMillis = -1;
  private long tickedMillis = Long.MIN_VALUE;
  private long judgeFromMillis = Long.MIN_VALUE;

  /** Whether messages wait that nobody may be dealt. */
  void waiting(boolean wait, long now) {
    if (!wait) {
      waitingSinceMillis = -1;
    } else if (waitingSinceMillis < 0) {
      waitingSinceMillis = now;
    }
  }

  /** Who holds the round, and for how long. Null if nobody does, or nobody waits for it. */
  LevelCounts.Holder holder(LevelCounts book, HandOutOrder draw, List<MemberSlot> ring, long now) {
    if (waitingSinceMillis < 0) {
      return null;
    }
    LevelCounts.Holder holder = book.holder(now).orElse(null);
    MemberSlot turn = draw.turnHolder(ring);
    if (turn != null && (turn.items() >= book.range() || turn.spanLeft() <= 0)) {
      long quiet = now - book.quietSinceMillisOf(turn.name);
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

  /** Whether it is time to judge at all. */
  boolean mayJudge(long now) {
    if (tickedMillis != Long.MIN_VALUE && now - tickedMillis > PAUSE_MILLIS) {
      judgeFromMillis = now + PAUSE_MILLIS;
    }
    tickedMillis = now;
    return now >= judgeFromMillis;
  }

  /** Whether {@code hand} is late, being the holder for so long; −1: it is not the holder. */
  boolean late(MemberSlot hand, long heldMillis, long now) {
    if (now < hand.permittedUntilMillis) {
      return false;
    }
    return heldMillis >= hand.stallMillis
        || hand.unconfirmedSinceMillis >= 0
            && now - hand.unconfirmedSinceMillis >= hand.stallMillis;
  }

  /** What a member may be promised that just joined. */
  static long firstPermission(long stallMillis) {
    return stallMillis - margin(stallMillis);
  }

  /** It has just joined, and was promised {@link #firstPermission}. */
  static void permitted(MemberSlot hand, long now) {
    hand.permittedUntilMillis = now + hand.stallMillis;
  }

  /**
   * Promises a member that has reported, how long it is not set aside whatever happens.
   *
   * @param holds whether it holds the round; asked only if it matters
   * @return for how long it may start handlers, in milliseconds
   */
  long permit(MemberSlot hand, LevelCounts book, BooleanSupplier holds, long now) {
    long earliest = now + hand.stallMillis;
    if (waitingSinceMillis >= 0 && hand.items() > 0) {
      long quiet = Math.max(book.quietSinceMillisOf(hand.name), waitingSinceMillis);
      earliest = quiet + hand.stallMillis;
    }
    if (earliest - now < hand.stallMillis / 2 && !holds.getAsBoolean()) {
      // Others do not wait for it now. When they do it shall have some time.
      earliest = now + hand.stallMillis;
    }
    if (hand.unconfirmedSinceMillis >= 0) {
      earliest = Math.min(earliest, hand.unconfirmedSinceMillis + hand.stallMillis);
    }
    hand.permittedUntilMillis = Math.max(hand.permittedUntilMillis, earliest);
    return Math.max(0, hand.permittedUntilMillis - now - margin(hand.stallMillis));
  }

  private static long margin(long stallMillis) {
    return Math.min(MARGIN_MILLIS_MAX, stallMillis / 5);
  }
}
