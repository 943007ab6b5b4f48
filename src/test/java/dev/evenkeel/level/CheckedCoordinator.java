package dev.evenkeel.level;

import static dev.evenkeel.Loops.each;

import java.util.IdentityHashMap;
import java.util.Map;

/**
 * A coordinator whose threads pause before each access to what they share, and which checks every
 * granted step against all pairs. Only one thread runs at a time, so what it counts is exact.
 */
class CheckedCoordinator extends Coordinator {
  private final Map<Seat, Map<Seat, Long>> stepsAtJoining = new IdentityHashMap<>();
  private long granted;

  CheckedCoordinator(int range, long idleMillis, long[] nowNanos) {
    super(Range.of(range), idleMillis, () -> nowNanos[0], (delay, what) -> {});
  }

  long granted() {
    return granted;
  }

  @Override
  Seat newSeat() {
    return new CheckedSeat(this);
  }

  @Override
  Seat[] table() {
    Interleavings.pause();
    return super.table();
  }

  @Override
  boolean replaceTable(Seat[] expected, Seat[] next) {
    Interleavings.pause();
    boolean replaced = super.replaceTable(expected, next);
    if (replaced && next.length > expected.length) {
      Map<Seat, Long> steps = new IdentityHashMap<>();
      each(expected, each -> steps.put(each, Seat.steps(((CheckedSeat) each).wordNow())));
      stepsAtJoining.put(next[expected.length], steps);
    }
    return replaced;
  }

  private void check(CheckedSeat mover) {
    granted++;
    for (Seat other : stepsAtJoining.keySet()) {
      long word = ((CheckedSeat) other).wordNow();
      if (other == mover || !Seat.isTaken(word)) {
        continue;
      }
      long ahead = Seat.steps(mover.wordNow()) - Seat.steps(word);
      Long atJoining = stepsAtJoining.get(other).get(mover);
      if (atJoining != null) {
        ahead -= atJoining;
      } else {
        ahead += stepsAtJoining.get(mover).getOrDefault(other, 0L);
      }
      if (ahead > range().steps()) {
        throw new AssertionError("a track is " + ahead + " steps ahead of another");
      }
    }
  }

  /** A seat whose accesses can be told apart. */
  static class CheckedSeat extends Seat {
    private final CheckedCoordinator checked;

    CheckedSeat(CheckedCoordinator coordinator) {
      super(coordinator);
      this.checked = coordinator;
    }

    long wordNow() {
      return super.word();
    }

    @Override
    long word() {
      Interleavings.pause();
      return super.word();
    }

    @Override
    boolean replaceWord(long expected, long next) {
      Interleavings.pause();
      boolean replaced = super.replaceWord(expected, next);
      if (replaced && Seat.isTaken(next)) {
        checked.check(this);
      }
      return replaced;
    }

    @Override
    WaiterLink waiters() {
      Interleavings.pause();
      return super.waiters();
    }

    @Override
    boolean replaceWaiters(WaiterLink expected, WaiterLink next) {
      Interleavings.pause();
      return super.replaceWaiters(expected, next);
    }

    @Override
    WaiterLink takeWaiters() {
      Interleavings.pause();
      return super.takeWaiters();
    }
  }
}
