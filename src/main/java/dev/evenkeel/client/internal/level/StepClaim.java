package dev.evenkeel.client.internal.level;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.StepPlace;
import dev.evenkeel.bus.StepReport;
import dev.evenkeel.client.internal.consume.SelfFence;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What one track of a coordinator may do, as far as it has heard. It counts its steps up to the
 * limit that the dispatcher has given, and stops by itself when the dispatcher may have given it
 * up.
 *
 * <pre>
 *          a place           others wait for it, it does not ask
 * waiting --------> placed --------------------------------------> aside
 *    ^                |                                              |
 *    |                | no answer for too long; refused              | it asks to move
 *    |                v                                              |
 *    |               lost (for good)                                 |
 *    '---------------------------------------- a later stay ---------'
 * </pre>
 *
 * <p>{@link #move} may be called from any thread, everything else on the context of the track.
 * Times are milliseconds of {@code ElapsedTime}.
 */
public final class StepClaim {
  /** Set while no step may be taken: it waits for a place, is set aside, lost or destroyed. */
  private static final long CLOSED = 1;

  private static final long STEP = 2;

  /** What a move came to. */
  public enum Moved {
    DONE,
    /** It took the step, and should report soon. */
    DONE_REPORT,
    WAITS,
    /** It has to wait, and should say so. */
    WAITS_REPORT,
    /** It stopped: it was set aside, or is lost. */
    STOPPED
  }

  private final int range;
  private final long reachMillis;
  private final long idleMillis;

  /** Steps, and whether it is closed: one word, so that a step and the end cannot both happen. */
  private final AtomicLong word = new AtomicLong(CLOSED);

  private volatile long limit;
  private volatile long fenceMillis = Long.MIN_VALUE;

  /** From so many steps on it is time to report. */
  private volatile long reportAt = Long.MAX_VALUE;

  /** It was refused a step, and has not heard of a higher limit since. */
  private volatile boolean waiting;

  private volatile boolean lost;

  /** The group is paused. */
  private volatile boolean paused;

  private volatile long askedMillis;

  private int stay;
  private boolean entering = true;
  private boolean aside;
  private boolean heard;
  private boolean awaited;
  private long awaitedSinceMillis;
  private long term;
  private long revision;
  private long roster;
  private int tracks;
  private boolean mustReport;

  /** Steps of the last report. */
  private long reported;

  public StepClaim(int range, long memberTimeoutMillis, long idleMillis) {
    this.range = range;
    this.idleMillis = idleMillis;
    reachMillis = memberTimeoutMillis - SelfFence.MARGIN_MILLIS;
  }

  // ---- Any thread

  /** Takes one step if it may. */
  public Moved move(long nowMillis) {
    askedMillis = nowMillis;
    while (true) {
      long seen = word.get();
      if ((seen & CLOSED) != 0) {
        return Moved.STOPPED;
      }
      long steps = seen / STEP;
      if (paused) {
        return Moved.WAITS;
      }
      if (steps >= limit) {
        boolean news = !waiting;
        waiting = true;
        return news ? Moved.WAITS_REPORT : Moved.WAITS;
      }
      if (nowMillis > fenceMillis) {
        lose();
        return Moved.STOPPED;
      }
      if (word.compareAndSet(seen, seen + STEP)) {
        if (steps + 1 < reportAt) {
          return Moved.DONE;
        }
        reportAt = Long.MAX_VALUE;
        return Moved.DONE_REPORT;
      }
    }
  }

  /** Whether a move would succeed now. */
  public boolean mayMove(long nowMillis) {
    long seen = word.get();
    return (seen & CLOSED) == 0 && !paused && seen / STEP < limit && nowMillis <= fenceMillis;
  }

  /** Where it stands. */
  public long steps() {
    return word.get() / STEP;
  }

  /** Whether the others may go on without it, so that it never moves again. */
  public boolean isLost() {
    return lost;
  }

  /** It never moves again. */
  public void lose() {
    lost = true;
    close();
  }

  /** It was destroyed: it never moves again. */
  public void stop() {
    close();
  }

  private void close() {
    word.getAndUpdate(seen -> seen | CLOSED);
  }

  // ---- On the context

  /** Whether it has had a place. */
  public boolean isPlaced() {
    return !entering && !aside;
  }

  /** It asks to move, and waits. */
  public void asks(long nowMillis) {
    askedMillis = nowMillis;
    if (!aside && !lost) {
      mustReport |= !waiting;
      waiting = true;
    }
  }

  /** It asks to move, and was set aside: it comes back. Returns whether that is news. */
  public boolean comesBack(long nowMillis) {
    askedMillis = nowMillis;
    if (!aside || lost) {
      return false;
    }
    aside = false;
    entering = true;
    stay++;
    return true;
  }

  /** Looks at the time; returns whether it should report at once. */
  public boolean tick(long nowMillis) {
    if (fenceMillis != Long.MIN_VALUE && nowMillis > fenceMillis) {
      lose();
      return false;
    }
    boolean idle =
        isPlaced()
            && awaited
            && !paused
            && !lost
            // One that has used up its allowance waits itself.
            && steps() < limit
            && nowMillis - Math.max(askedMillis, awaitedSinceMillis) >= idleMillis;
    if (idle) {
      // First it stops, then the others hear of it.
      close();
      aside = true;
      awaited = false;
    }
    return idle;
  }

  /** What to tell the dispatcher now. */
  public StepReport report() {
    // Before the steps: a step after this may be reported again.
    boolean waits = waiting;
    reported = steps();
    return new StepReport(stay, entering ? -1 : reported, waits, aside, roster, tracks);
  }

  /** The last assignment that it has heard of; null: none. */
  public Heartbeat.Seen seen() {
    return heard ? new Heartbeat.Seen(term, revision) : null;
  }

  /**
   * The heartbeat that was sent at {@code sentMillis} was answered. An answer that comes too late
   * does not bring a track back.
   */
  public void answered(long sentMillis, long nowMillis) {
    if (fenceMillis != Long.MIN_VALUE && nowMillis > fenceMillis) {
      lose();
    }
    if (!lost) {
      fenceMillis = Math.max(fenceMillis, sentMillis + reachMillis);
    }
  }

  /**
   * Takes what the dispatcher says, in an answer or before one.
   *
   * @return whether it should report at once
   */
  public boolean take(Assignment assignment, long nowMillis) {
    if (assignment.place() != null && (!heard || assignment.laterThan(term, revision))) {
      takeNew(assignment, nowMillis);
    }
    if (assignment.term() == term && assignment.revision() == revision) {
      // An assignment does not get another number when the group is paused.
      takePauses(assignment, nowMillis);
    }
    mustReport |= plan();
    boolean report = mustReport;
    mustReport = false;
    return report;
  }

  private void takePauses(Assignment assignment, long nowMillis) {
    boolean was = paused;
    paused = assignment.pauses() != null && !assignment.pauses().isEmpty();
    if (was && !paused) {
      askedMillis = nowMillis;
    }
  }

  private void takeNew(Assignment assignment, long nowMillis) {
    StepPlace place = assignment.place();
    // A new dispatcher counts a track only when it shows that it has heard of it.
    mustReport |= !heard || assignment.term() > term;
    heard = true;
    term = assignment.term();
    revision = assignment.revision();
    if (place.roster() > roster) {
      // Tracks that come wait until all others know of them.
      mustReport |= roster != 0;
      roster = place.roster();
      tracks = place.tracks();
    }
    if (place.stay() == stay && !aside && !lost) {
      take(place, nowMillis);
    }
  }

  private void take(StepPlace place, long nowMillis) {
    if (entering && place.from() >= 0) {
      entering = false;
      limit = place.limit();
      waiting = false;
      askedMillis = nowMillis;
      word.set(place.from() * STEP);
      mustReport = true;
    } else if (!entering && place.limit() > limit) {
      if (steps() >= limit) {
        askedMillis = nowMillis;
      }
      limit = place.limit();
      waiting = false;
    }
    if (place.awaited() && !awaited) {
      awaitedSinceMillis = nowMillis;
      mustReport = true;
    }
    awaited = place.awaited();
  }

  /**
   * Finds out when the next report is due: while others wait for this track, each step counts, else
   * half of what was left. Returns whether it is due now.
   */
  private boolean plan() {
    if (!isPlaced() || lost) {
      return false;
    }
    long due = reported + (awaited ? 1 : Math.max(1, Math.min(range, limit - reported) / 2));
    boolean now = steps() >= due;
    reportAt = now ? Long.MAX_VALUE : due;
    return now;
  }
}
