package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.level.LevelCounts;
import java.util.ArrayList;
import java.util.List;

/**
 * When newcomers join the book: at a moment when nobody has anything in hand, if that comes soon.
 *
 * <p>What others have in hand when somebody joins may end before it or after it; nobody can tell.
 * So the {@link LevelCounts} takes all of it off what the newcomer and each of them may have in
 * hand together, for as long as both live, and again what they have in hand when the newcomer's
 * first message ends. With full hands little would be left. So, when somebody waits to join:
 *
 * <ol>
 *   <li>nothing is dealt until all hands are empty; then all that wait join;
 *   <li>each newcomer is dealt one message, and nothing else is dealt until that has ended.
 * </ol>
 *
 * <p>That is a pause of about two handlers' time. Each part of it ends after {@link
 * #PAUSE_MILLIS_MAX}, at the price above, and there is {@link #APART_MILLIS} between two pauses.
 */
final class JoinPauses {
  /** Longest time that dealing pauses for either part. */
  static final long PAUSE_MILLIS_MAX = 1_000;

  /** Whoever comes earlier after the last pause waits, unless nobody has anything in hand. */
  static final long APART_MILLIS = 500;

  private final List<MemberSlot> waiting = new ArrayList<>();
  private final List<MemberSlot> newcomers = new ArrayList<>();

  /** Since when all wait for hands to become empty, or −1. */
  private long pausedSinceMillis = -1;

  private long pausesFromMillis = Long.MIN_VALUE;

  /** Somebody has answered that it has nothing in hand, and is to join. */
  void add(MemberSlot hand) {
    waiting.add(hand);
  }

  /** It goes, wherever it was. */
  void remove(MemberSlot hand) {
    waiting.remove(hand);
    newcomers.remove(hand);
  }

  /** Those that join now, or none. */
  List<MemberSlot> admit(List<MemberSlot> ring, long now) {
    if (waiting.isEmpty()) {
      pausedSinceMillis = -1;
      return List.of();
    }
    boolean emptyHands = true;
    for (int i = 0; i < ring.size() && emptyHands; i++) {
      emptyHands = ring.get(i).items() == 0;
    }
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

  /** It has joined the book. */
  void joined(MemberSlot hand) {
    hand.firstDueMillis = -1;
    newcomers.add(hand);
  }

  /** Whether all hands are to become empty, so that nothing is to be dealt to anybody. */
  boolean pausing() {
    return pausedSinceMillis >= 0;
  }

  /**
   * Newcomers none of whose messages has ended: before anybody is dealt anything else each of them
   * is to have one message in hand, and nobody more. Empty if there is no need to wait.
   */
  List<MemberSlot> unheard(LevelCounts book, long now) {
    if (!newcomers.isEmpty()) {
      newcomers.removeIf(
          hand ->
              hand.closing
                  || book.finishedOf(hand.name) > 0
                  || hand.firstDueMillis >= 0 && now - hand.firstDueMillis >= PAUSE_MILLIS_MAX);
    }
    return newcomers;
  }
}
