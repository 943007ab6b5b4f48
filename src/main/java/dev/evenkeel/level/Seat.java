package dev.evenkeel.level;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One stay of a track among the others, from joining to being set aside or destroyed. A track that
 * comes back gets another seat, so a second arrival is never taken for the first.
 *
 * <p>Its word is written by the owner's steps and by whoever ends the stay; lists and times by
 * anybody; all else belongs to the owner's thread. See {@link Coordinator} for why it is right.
 */
class Seat extends SeatWord {
  /**
   * Since when a seat has been seen to hold others back and to do nothing.
   *
   * @param word the seat's word then
   * @param touches how often its owner had asked or been answered then
   * @param sinceNanos of the coordinator's clock
   */
  private record Stall(long word, int touches, long sinceNanos) {}

  private static final VarHandle WAITERS;
  private static final VarHandle STALL;
  private static final long[] NONE = {};

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      WAITERS = lookup.findVarHandle(Seat.class, "waiters", WaiterLink.class);
      STALL = lookup.findVarHandle(Seat.class, "stall", Stall.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Coordinator coordinator;
  private final int range;

  private Seat[] known = {};

  /** For each known seat: own steps less its steps at the moment from which both are counted. */
  private long[] references = NONE;

  /** Own steps when the table was last seen to be the known one. */
  private long stepsChecked;

  /** Steps that may be reached while the table is the known one. */
  private long limit;

  /** Index of the seat that refused last. */
  private int blocker;

  private volatile @Nullable WaiterLink waiters;
  private volatile @Nullable Stall stall;
  private volatile int touches;
  private volatile @Nullable Waiter waiting;

  Seat(Coordinator coordinator) {
    this.coordinator = coordinator;
    this.range = coordinator.range().steps();
  }

  int range() {
    return range;
  }

  Seat[] known() {
    return known;
  }

  long[] references() {
    return references;
  }

  /** The seat that refused last. */
  Seat blocker() {
    return known[blocker];
  }

  /** Takes its references to those who were there, once it is in {@code table} itself. */
  void joined(Seat[] table) {
    long[] fresh = new long[table.length];
    for (int i = 0; i < table.length; i++) {
      fresh[i] = table[i] == this ? 0 : -steps(table[i].word());
    }
    known = table;
    references = fresh;
  }

  /**
   * Whether a step to one more than {@code steps} is within the range of all. The owner calls it,
   * with the steps it has.
   */
  boolean mayStep(long steps) {
    Seat[] table = coordinator.table();
    if (table != known) {
      learn(table);
    }
    stepsChecked = steps;
    return steps < limit || raise(steps);
  }

  /**
   * Those who joined since the last look count from what this seat had then: they were not there,
   * so it has had no less when they joined. Both tables are in the order of joining.
   */
  private void learn(Seat[] table) {
    long[] fresh = new long[table.length];
    int old = 0;
    for (int i = 0; i < table.length; i++) {
      int same = old;
      while (same < known.length && known[same] != table[i]) {
        same++;
      }
      if (same < known.length) {
        fresh[i] = references[same];
        old = same + 1;
      } else {
        fresh[i] = stepsChecked;
        old = known.length;
      }
    }
    known = table;
    references = fresh;
    blocker = 0;
    limit = 0;
  }

  /** Looks at all others, beginning with the one that refused last. */
  private boolean raise(long steps) {
    Seat[] seats = known;
    long least = Long.MAX_VALUE;
    int at = blocker;
    for (int left = seats.length; left > 0; left--) {
      Seat other = seats[at];
      if (other != this) {
        long word = other.word();
        if (isTaken(word)) {
          long reach = references[at] + steps(word) + range;
          if (reach <= steps) {
            blocker = at;
            return false;
          }
          least = Math.min(least, reach);
        }
      }
      at = at + 1 == seats.length ? 0 : at + 1;
    }
    limit = least;
    return true;
  }

  /** Takes the step after {@code word}; false if the stay has ended. Wakes who waits for it. */
  boolean step(long word) {
    if (!replaceWord(word, word + STEP)) {
      return false;
    }
    long steps = steps(word) + 1;
    if (coordinator.table() == known) {
      // Who joins from here on finds this step done.
      stepsChecked = steps;
    }
    WaiterLink first = waiters();
    if (first != null && steps >= first.least) {
      wake();
    }
    return true;
  }

  /** The first of the list. */
  @Nullable WaiterLink waiters() {
    return waiters;
  }

  boolean replaceWaiters(@Nullable WaiterLink expected, @Nullable WaiterLink next) {
    return WAITERS.compareAndSet(this, expected, next);
  }

  @Nullable WaiterLink takeWaiters() {
    return (WaiterLink) WAITERS.getAndSet(this, null);
  }

  /** Puts a waiter into the list until this seat has {@code needed} steps or has ended. */
  void park(Waiter waiter, long needed) {
    WaiterLink first;
    do {
      first = waiters();
    } while (!replaceWaiters(first, new WaiterLink(waiter, needed, first)));
    coordinator.watch();
    // The step may have come before the link: then nobody else looks at the list.
    if (Waiter.allows(word(), needed)) {
      wake();
    }
  }

  /** Wakes all waiters. Those that still have to wait come back by themselves. */
  void wake() {
    for (WaiterLink each = takeWaiters(); each != null; each = each.next) {
      each.waiter.goOn();
    }
  }

  /** The pending wait of the owner. */
  @Nullable Waiter waiting() {
    Waiter waiter = waiting;
    return waiter == null || waiter.future().isComplete() ? null : waiter;
  }

  private boolean isWaiting() {
    Waiter waiter = waiting;
    return waiter != null && !waiter.isSettled();
  }

  /** Begins a wait of the owner, which was refused with {@code steps}. */
  Waiter await(long steps) {
    Waiter waiter = new Waiter(this, steps, blocker);
    waiting = waiter;
    waiter.goOn();
    return waiter;
  }

  /** Notes that the owner is alive: it asked, or got its answer. */
  void touch() {
    touches++; // a lost one does not matter: another number is all it takes
  }

  /**
   * Whether this seat, which holds somebody back, has done so for {@code idleNanos} without a step,
   * a question or a pending wait. The first call that finds it so begins the time.
   */
  boolean isIdle(long word, long nowNanos, long idleNanos) {
    Stall seen = stall;
    int touched = touches;
    if (seen == null || seen.word() != word || seen.touches() != touched || isWaiting()) {
      STALL.compareAndSet(this, seen, new Stall(word, touched, nowNanos));
      return false;
    }
    return nowNanos - seen.sinceNanos() >= idleNanos;
  }

  /** Ends the stay if {@code word} is still its word. */
  boolean end(long word, long mark) {
    if (!isTaken(word) || !replaceWord(word, word | mark)) {
      return false;
    }
    coordinator.leave(this);
    wake();
    return true;
  }

  @Override
  public String toString() {
    return "seat[" + steps(word()) + " steps, knows " + Arrays.toString(references) + "]";
  }
}
