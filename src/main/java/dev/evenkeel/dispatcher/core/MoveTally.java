package dev.evenkeel.dispatcher.core;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.LongConsumer;

/**
 * What the moves of one dispatcher come to since somebody looked last. Moves of its predecessors
 * are not in it, as those have counted them; a figure of theirs that nobody knew before is.
 */
public final class MoveTally {
  /** Most durations that wait to be taken; the newest. */
  static final int DURATIONS_MAX = 1_000;

  private final Map<Cause, Long> byCause = new EnumMap<>(Cause.class);
  private long ofUnknownCause;
  private long redelivered;
  private long capped;
  private long unrecorded;
  private Durations pauses = new Durations();
  private Durations releases = new Durations();

  /** Takes what was counted. */
  public interface Sink {
    /**
     * @param cause null if unknown
     */
    void moves(Cause cause, long count);

    void pause(long millis);

    void release(long millis);

    void redelivered(long messages);

    /** Moves for which a hand-over ran into its cap. */
    void capped(long moves);

    /** Moves, or figures of moves, that did not get into the history. */
    void unrecorded(long moves);
  }

  void made(Move move) {
    if (move.cause() == null) {
      ofUnknownCause++;
    } else {
      byCause.merge(move.cause(), 1L, Long::sum);
    }
    capped += move.capped() ? 1 : 0;
    learned(null, move);
  }

  /**
   * @param before null: nothing was known
   */
  void learned(Move before, Move now) {
    if ((before == null || before.pauseMillis() == null) && now.pauseMillis() != null) {
      pauses.add(now.pauseMillis());
    }
    if ((before == null || before.releaseMillis() == null) && now.releaseMillis() != null) {
      releases.add(now.releaseMillis());
    }
    long counted = before == null || before.redelivered() == null ? 0 : before.redelivered();
    if (now.redelivered() != null) {
      // A counter cannot go back.
      redelivered += Math.max(0, now.redelivered() - counted);
    }
  }

  void unrecorded(long moves) {
    unrecorded += moves;
  }

  /** Empties it. */
  public void drainTo(Sink sink) {
    byCause.forEach(sink::moves);
    byCause.clear();
    sink.moves(null, ofUnknownCause);
    ofUnknownCause = 0;
    sink.redelivered(redelivered);
    redelivered = 0;
    sink.capped(capped);
    capped = 0;
    sink.unrecorded(unrecorded);
    unrecorded = 0;
    pauses.forEach(sink::pause);
    pauses = new Durations();
    releases.forEach(sink::release);
    releases = new Durations();
  }

  private static final class Durations {
    private final Deque<Long> newest = new ArrayDeque<>();

    void add(long millis) {
      if (newest.size() == DURATIONS_MAX) {
        newest.removeFirst();
      }
      newest.addLast(millis);
    }

    void forEach(LongConsumer each) {
      newest.forEach(each::accept);
    }
  }
}
