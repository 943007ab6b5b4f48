package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.level.LevelCounts;
import java.util.ArrayList;
import java.util.List;

/**
 * Decides when newcomers begin to take part: at a moment when nobody has anything in hand, if that
 * comes soon.
 *
 * <p>What others have in hand when somebody joins may end before it or after it; nobody can tell.
 * So the {@link LevelCounts} takes all of it off what the newcomer and each of them may have in
 * slot together, for as long as both live, and again what they have in hand when the newcomer's
 * first message ends. With full hands little would be left. So, when somebody waits to join:
 *
 * <ol>
 *   <li>nothing is handed out until all hands are empty; then all that wait join;
 *   <li>each newcomer is handed one message, and nothing else is handed out until that has ended.
 * </ol>
 *
 * <p>That is a pause of about two handlers' time. Each part of it ends after {@link
 * #PAUSE_MILLIS_MAX}, at the price above, and there is {@link #APART_MILLIS} between two pauses.
 */
final class JoinPauses {
  /** Longest time that handing out pauses for either part. */
  static final long PAUSE_MILLIS_MAX = 1_000;

  /** Least time between two pauses. A newcomer waits for it, unless nobody has anything in hand. */
  static final long APART_MILLIS = 500;

  private final LevelMembers members;
  private final List<MemberSlot> waiting = new ArrayList<>();
  private final List<MemberSlot> newcomers = new ArrayList<>();

  /** Since when all wait for hands to become empty, or −1. */
  private long pausedSinceMillis = -1;

  private long pausesFromMillis = Long.MIN_VALUE;

  JoinPauses(LevelMembers members) {
    this.members = members;
  }

  /** A member has answered that it has nothing in hand, and is to join. */
  void add(MemberSlot slot) {
    waiting.add(slot);
  }

  /** The member is gone. */
  void remove(MemberSlot slot) {
    waiting.remove(slot);
    newcomers.remove(slot);
  }

  /** Those that join now, or none. */
  List<MemberSlot> admit(long now) {
    if (waiting.isEmpty()) {
      pausedSinceMillis = -1;
      return List.of();
    }
    boolean emptyHands = members.inTurn().stream().allMatch(slot -> slot.items() == 0);
    if (!emptyHands && pausedSinceMillis < 0 && now >= pausesFromMillis) {
      pausedSinceMillis = now;
    }
    boolean longEnough = pausedSinceMillis >= 0 && now - pausedSinceMillis >= PAUSE_MILLIS_MAX;
    if (!emptyHands && !longEnough) {
      return List.of();
    }
    List<MemberSlot> joining = List.copyOf(waiting);
    waiting.clear();
    pausedSinceMillis = -1;
    pausesFromMillis = now + APART_MILLIS;
    return joining;
  }

  /** It takes part now. */
  void joined(MemberSlot slot) {
    slot.firstDueMillis = -1;
    newcomers.add(slot);
  }

  /** Whether all hands are to become empty, so that nothing is to be handed to anybody. */
  boolean pausing() {
    return pausedSinceMillis >= 0;
  }

  /**
   * Newcomers none of whose messages has ended: before anybody is handed anything else each of them
   * is to have one message in hand, and nobody more. Empty if there is no need to wait.
   */
  List<MemberSlot> unheard(long now) {
    if (!newcomers.isEmpty()) {
      newcomers.removeIf(
          slot ->
              slot.closing
                  || members.counts().finishedOf(slot.name) > 0
                  || slot.firstDueMillis >= 0 && now - slot.firstDueMillis >= PAUSE_MILLIS_MAX);
    }
    return newcomers;
  }
}
