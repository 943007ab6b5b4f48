package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.MoveRecord;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Sums over the moves of one dispatcher since the metrics last took them. Moves of former
 * dispatchers are not in it, since those have counted them; but figures of such moves are, if
 * nobody knew them before.
 */
public final class MoveTally {
  /** Most durations that wait to be taken; the newest. */
  static final int DURATIONS_MAX = 1_000;

  private final Map<Cause, Long> byCause = new HashMap<>();
  private long redelivered;
  private long capped;
  private long unrecorded;
  private final Deque<Long> pauses = new ArrayDeque<>();
  private final Deque<Long> releases = new ArrayDeque<>();

  /** How many moves there were of each cause; null: of causes that are unknown. */
  public Map<Cause, Long> moves() {
    return byCause;
  }

  /** Messages that new owners got again. */
  public long redelivered() {
    return redelivered;
  }

  /** Moves for which a hand-over ran into its cap. */
  public long capped() {
    return capped;
  }

  /** Moves, or figures of moves, that did not get into the history. */
  public long unrecorded() {
    return unrecorded;
  }

  public Collection<Long> pausesMillis() {
    return pauses;
  }

  public Collection<Long> releasesMillis() {
    return releases;
  }

  void made(MoveRecord move) {
    byCause.merge(Cause.ofWord(move.reason()), 1L, Long::sum);
    capped += move.capped() ? 1 : 0;
    if (move.releaseMillis() != null) {
      add(releases, move.releaseMillis());
    }
    learned(null, move);
  }

  /**
   * Figures of a move became known.
   *
   * @param before what was known of it; null: nothing
   */
  void learned(MoveRecord before, MoveRecord now) {
    if (now.pauseMillis() != null && (before == null || before.pauseMillis() == null)) {
      add(pauses, now.pauseMillis());
    }
    long counted = before == null || before.redelivered() == null ? 0 : before.redelivered();
    if (now.redelivered() != null) {
      // A counter cannot go back.
      redelivered += Math.max(0, now.redelivered() - counted);
    }
  }

  private static void add(Deque<Long> newest, long millis) {
    if (newest.size() == DURATIONS_MAX) {
      newest.removeFirst();
    }
    newest.addLast(millis);
  }

  void unrecorded(long moves) {
    unrecorded += moves;
  }
}
