package dev.evenkeel.dedup;

import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The automata of some keys of a {@link LocalCoordinator}, with their own lock. It holds the lock
 * for one step at a time, and never while it wakes a waiter. Automata in state INIT are dropped at
 * once.
 */
final class Stripe<K> extends SpinLock {
  private final int keysMax;
  private final long tokenStep;
  private final Slots<K> slots = new Slots<>();
  private int waiting;
  private long token;
  private long accepted;
  private long blocked;
  private long declined;
  private long evicted;
  private long lost;
  private long overflowed;

  /**
   * @param keysMax most keys; beyond it the least recently used one is dropped
   * @param tokenFirst its first token
   * @param tokenStep difference of its tokens, so that no two stripes give the same one
   */
  Stripe(int keysMax, long tokenFirst, long tokenStep) {
    this.keysMax = keysMax;
    this.token = tokenFirst - tokenStep;
    this.tokenStep = tokenStep;
  }

  /** Asks for a place. Returns a ticket with its answer. */
  LocalTicket<K> enQueue(K key, int hash, Worker worker, long nowMillis) {
    LocalTicket<K> ticket;
    LocalTicket<K> displaced = null;
    lock();
    try {
      token += tokenStep;
      ticket = new LocalTicket<>(key, hash, worker, token);
      Slot<K> slot = slots.find(key, hash);
      if (slot == null) {
        slot = slots.add(hash);
      } else {
        slots.used(slot);
      }
      Answer answer = slot.enQueue(ticket, nowMillis);
      ticket.answered(answer, slot);
      if (answer == Answer.ACCEPT) {
        accepted++;
        displaced = slots.size() > keysMax ? dropLeastUsed() : null;
      } else if (answer == Answer.BLOCK) {
        blocked++;
        waiting++;
      } else {
        declined++;
      }
    } finally {
      unlock();
    }
    if (displaced != null) {
      displaced.wake();
    }
    return ticket;
  }

  /** Drops the least recently used key. Returns its waiter. */
  private @Nullable LocalTicket<K> dropLeastUsed() {
    Slot<K> slot = slots.leastUsed();
    LocalTicket<K> tail = slot.tail();
    overflowed++;
    evicted += tail == null ? 1 : 2;
    waiting -= tail == null ? 0 : 1;
    slot.clear();
    slots.remove(slot);
    return tail;
  }

  /** Gives back the place of {@code ticket}, and wakes its waiter. */
  Departure deQueue(LocalTicket<K> ticket, long nowMillis) {
    LocalTicket<K> next;
    lock();
    try {
      // The slot may belong to another key by now; then neither of its claims is this one.
      Slot<K> slot = ticket.slot;
      Departure departure = slot == null ? Departure.NOT_HEAD : slot.deQueue(ticket, nowMillis);
      if (departure == Departure.NOT_HEAD && ticket.leaves()) {
        lost++;
      }
      ticket.left = true;
      if (slot != null && departure == Departure.FREED) {
        slots.remove(slot);
      } else if (departure == Departure.LEFT_QUEUE) {
        waiting--;
      }
      if (slot == null || departure != Departure.PASSED_ON) {
        return departure;
      }
      waiting--;
      slots.begun(slot);
      next = Objects.requireNonNull(slot.head());
    } finally {
      unlock();
    }
    next.wake();
    return Departure.PASSED_ON;
  }

  /**
   * Evicts at most {@code most} heads that have worked for {@code headMillisMax} or longer.
   *
   * @param woken receives the new heads, for the caller to wake
   * @return how many it evicted
   */
  int evictOverdue(long nowMillis, long headMillisMax, int most, List<LocalTicket<K>> woken) {
    lock();
    try {
      int count = 0;
      Slot<K> slot;
      while (count < most && (slot = slots.firstBegun()).overdue(nowMillis, headMillisMax)) {
        slot.evict(nowMillis);
        evicted++;
        count++;
        if (slot.head() == null) {
          slots.remove(slot);
        } else {
          waiting--;
          slots.begun(slot);
          woken.add(slot.head());
        }
      }
      return count;
    } finally {
      unlock();
    }
  }

  /**
   * Removes the claims of dead members.
   *
   * @param woken receives the new heads, and also the removed waiters: if one is alive after all,
   *     it must not wait for ever
   * @return how many claims it removed
   */
  int dropDead(Predicate<String> alive, long nowMillis, List<LocalTicket<K>> woken) {
    lock();
    try {
      int count = 0;
      for (Slot<K> slot : slots.all()) {
        count += dropDead(slot, alive, nowMillis, woken);
      }
      evicted += count;
      return count;
    } finally {
      unlock();
    }
  }

  private int dropDead(
      Slot<K> slot, Predicate<String> alive, long nowMillis, List<LocalTicket<K>> woken) {
    LocalTicket<K> head = slot.head();
    LocalTicket<K> tail = slot.tail();
    int dropped = slot.dropDead(alive, nowMillis);
    if (dropped > 0 && tail != null) {
      waiting--;
      woken.add(tail);
    }
    if (slot.head() == null) {
      slots.remove(slot);
    } else if (slot.head() != head) {
      slots.begun(slot);
    }
    return dropped;
  }

  DedupFigures figures() {
    lock();
    try {
      int keys = slots.size();
      return new DedupFigures(
          accepted, blocked, declined, evicted, lost, overflowed, 0, keys, waiting, keys);
    } finally {
      unlock();
    }
  }

  /** For tests: the number of keys that fit into the table now. */
  int capacity() {
    lock();
    try {
      return slots.capacity();
    } finally {
      unlock();
    }
  }
}
