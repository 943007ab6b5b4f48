package dev.evenkeel.level;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * Keeps tracks level: at every moment any two live tracks differ by at most {@code range} granted
 * steps, counted for each pair since the later of the two joined. {@link Coordinators} makes one.
 *
 * <p>Nothing is counted in common: no round, no arrivals, no flag. Each stay of a track has a seat
 * of its own with one word, its granted steps and whether the stay has ended; a table lists the
 * seats in the order of joining. A step is granted by comparing with the others' words:
 *
 * <pre>steps(a) + 1 &lt;= reference(a, b) + steps(b) + range    for every other taken seat b</pre>
 *
 * where reference(a, b) is what a had less what b had when the later of them joined. It belongs to
 * the pair: with one position for each track and one floor for all, a newcomer at the floor and a
 * track that is {@code range} ahead of it could differ by twice the range in what they did since.
 *
 * <p><b>Why the bound holds.</b> Words only grow until they end, so what a read of b is at most
 * what b has: to be late is to be careful. The largest count that the comparison allowed is kept as
 * the limit of a, and stays right while the table is the same; the table is looked at before every
 * step. Let b join, by the exchange of the table.
 *
 * <ul>
 *   <li>b reads a's steps after that, so it takes a for at least as far as a was: careful.
 *   <li>a takes for its own the steps that it had when it last saw the table without b, which is no
 *       more than it had when b joined. It looks before a step and after it. So one step at most
 *       was granted in ignorance of b, and one is within any range.
 *   <li>If one of them leaves, its word is ended by the same compare-and-set that would grant its
 *       step; so either the step is before the end, and others still respect it, or there is none.
 * </ul>
 *
 * <p><b>Why nobody waits for ever.</b> Suppose that a<sub>1</sub> waits for a<sub>2</sub>, … and
 * a<sub>k</sub> for a<sub>1</sub>. Let v(a, b) = steps(a) − steps(b) − reference(a, b); all k of
 * them are then at least the range, so their sum is at least k·range, and the references' sum at
 * most −k·range. References do not change. At the moment when the last of them was taken, its own v
 * was 0 and the other k − 1 at most the range, as always; so the references' sum is at least −(k −
 * 1)·range. Contradiction: somebody can always step. A track that can and does not, for {@code
 * idleMillis} while another one is held back by it, is set aside: its stay ends, and its next move
 * begins another.
 *
 * <p>No lock anywhere. A granted step is two reads of the table, one compare-and-set of the track's
 * own word and one read of its list of waiters. When the limit is reached, the words of the others
 * are read, O(tracks); joining and leaving copy the table.
 */
public class Coordinator {
  private static final VarHandle TABLE;
  private static final VarHandle WATCHING;
  private static final long NANOS_A_MILLI = 1_000_000;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      TABLE = lookup.findVarHandle(Coordinator.class, "table", Seat[].class);
      WATCHING = lookup.findVarHandle(Coordinator.class, "watching", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Range range;
  private final long idleMillis;
  private final LongSupplier nanos;
  private final Alarm alarm;
  private volatile Seat[] table = {};

  @SuppressWarnings("unused") // by WATCHING
  private volatile boolean watching;

  Coordinator(Range range, long idleMillis, LongSupplier nanos, Alarm alarm) {
    if (idleMillis < 1 || idleMillis > Long.MAX_VALUE / NANOS_A_MILLI) {
      throw new IllegalArgumentException(
          "tracks idle for " + idleMillis + " ms: at least 1 is allowed");
    }
    this.range = range;
    this.idleMillis = idleMillis;
    this.nanos = nanos;
    this.alarm = alarm;
  }

  /** The range of this coordinator. */
  public Range range() {
    return range;
  }

  /** Tracks that take part now: neither destroyed nor set aside. */
  public int size() {
    return table().length;
  }

  /**
   * A new track, which takes part from now on: others get no more than {@code range} ahead of it.
   *
   * @param name for people; it need not differ from that of other tracks
   */
  public Track track(String name) {
    return new Track(this, name, join());
  }

  /** A new seat, in the table. */
  Seat join() {
    Seat seat = newSeat();
    Seat[] old;
    Seat[] fresh;
    do {
      old = table();
      fresh = Arrays.copyOf(old, old.length + 1);
      fresh[old.length] = seat;
    } while (!replaceTable(old, fresh));
    seat.joined(fresh);
    return seat;
  }

  /** Takes an ended seat off the table, if it is there. */
  void leave(Seat seat) {
    Seat[] old;
    Seat[] fresh;
    do {
      old = table();
      int at = old.length - 1;
      while (at >= 0 && old[at] != seat) {
        at--;
      }
      if (at < 0) {
        return;
      }
      fresh = new Seat[old.length - 1];
      System.arraycopy(old, 0, fresh, 0, at);
      System.arraycopy(old, at + 1, fresh, at, fresh.length - at);
    } while (!replaceTable(old, fresh));
  }

  /** Sets {@code seat} aside if it has been idle for too long; see {@link Seat#isIdle}. */
  boolean setAsideIfIdle(Seat seat) {
    long word = seat.word();
    return Seat.isTaken(word)
        && seat.isIdle(word, nowNanos(), idleMillis * NANOS_A_MILLI)
        && seat.end(word, Seat.ASIDE);
  }

  /** Has idle tracks looked for while somebody waits. */
  void watch() {
    if (WATCHING.compareAndSet(this, false, true)) {
      // Twice as often as needed, so that an end is late by half the time at most.
      alarm.in(Math.max(1, idleMillis / 2), this::lookForIdle);
    }
  }

  private void lookForIdle() {
    watching = false;
    boolean waited = false;
    for (Seat each : table()) {
      if (each.waiters() != null) {
        waited = true;
        setAsideIfIdle(each);
      }
    }
    if (waited) {
      watch();
    }
  }

  long nowNanos() {
    return nanos.getAsLong();
  }

  // What follows is what threads share; tests hold threads up here.

  Seat newSeat() {
    return new Seat(this);
  }

  Seat[] table() {
    return table;
  }

  boolean replaceTable(Seat[] expected, Seat[] next) {
    return TABLE.compareAndSet(this, expected, next);
  }
}
