package dev.evenkeel.dispatcher.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Heartbeats that wait for the dispatcher, in the turns of the users that sent them. The next one is
 * of the user on whom the least time was spent. So whatever heartbeats of one user cost, one of
 * another user waits for one heartbeat of each user at most, and each user has an equal part of the
 * dispatcher's time as long as it sends enough. Heartbeats of one user keep their order.
 *
 * <p>This is start-time fair queuing (P. Goyal, H. Vin, H. Cheng, 1996), where the cost of a
 * heartbeat is only known after it: a user that comes back counts as if it had had as much time as
 * the others that wait.
 *
 * <p>How many may wait, and how large they may be, is divided among users: one gets no more while it
 * has as much as is left. No clock and no I/O. Not thread-safe.
 *
 * @param <T> a heartbeat as it came
 */
public final class HeartbeatTurns<T> {
  /** Most heartbeats that wait: each member of the largest cluster sends one or two meanwhile. */
  public static final int WAITING_MAX = 2 * DispatcherSettings.MEMBERS_MAX;

  /** Most bytes of heartbeats that wait: 64 MiB. */
  public static final long WAITING_BYTES_MAX = 64L << 20;

  private record Waiting<T>(T heartbeat, long bytes) {}

  private static final class Sender<T> {
    final String user;
    final Deque<Waiting<T>> waiting = new ArrayDeque<>();
    long bytes;

    /** Time spent on it, or that counts as if it had been. */
    long spentNanos;

    Sender(String user) {
      this.user = user;
    }
  }

  private final Map<String, Sender<T>> senders = new HashMap<>();

  /** Those of which heartbeats wait; the first has its turn. */
  private final TreeSet<Sender<T>> turns =
      new TreeSet<>(
          Comparator.comparingLong((Sender<T> sender) -> sender.spentNanos)
              .thenComparing(sender -> sender.user));

  /** Whose heartbeat was taken last; null: that of nobody, or {@link #spent} was called. */
  private Sender<T> served;

  /** What the user had when it got its turn that got it last. */
  private long virtualNanos;

  private long count;
  private long bytes;

  /**
   * Adds a heartbeat.
   *
   * @param user null: unknown
   * @return false if it has no room, because of the others of its user
   */
  public boolean add(String user, T heartbeat, long itsBytes) {
    String name = user == null ? "" : user;
    Sender<T> sender = senders.computeIfAbsent(name, Sender::new);
    boolean fits =
        fits(sender.waiting.size(), 1, count, WAITING_MAX, user)
            && fits(sender.bytes, itsBytes, bytes, WAITING_BYTES_MAX, user);
    if (fits) {
      if (sender.waiting.isEmpty() && sender != served) {
        sender.spentNanos = Math.max(sender.spentNanos, virtualNanos);
        turns.add(sender);
      }
      sender.waiting.add(new Waiting<>(heartbeat, itsBytes));
      sender.bytes += itsBytes;
      bytes += itsBytes;
      count++;
    } else {
      forgetIdle(sender);
    }
    return fits;
  }

  private static boolean fits(long own, long more, long all, long max, String user) {
    return user == null ? all + more <= max : own + more <= max - all;
  }

  /** Takes the next heartbeat; {@link #spent} follows. Null: none waits. */
  public T next() {
    Sender<T> sender = turns.pollFirst();
    if (sender == null) {
      return null;
    }
    served = sender;
    virtualNanos = sender.spentNanos;
    Waiting<T> next = sender.waiting.remove();
    sender.bytes -= next.bytes();
    bytes -= next.bytes();
    count--;
    return next.heartbeat();
  }

  /** So much time was spent on the heartbeat of {@link #next}. */
  public void spent(long nanos) {
    Sender<T> sender = served;
    served = null;
    // A clock of coarse ticks shows no time for some.
    sender.spentNanos += Math.max(1, nanos);
    if (!sender.waiting.isEmpty()) {
      turns.add(sender);
    }
    if (turns.isEmpty()) {
      // Nobody waits, so nobody has had less than others.
      senders.clear();
      virtualNanos = 0;
    }
  }

  private void forgetIdle(Sender<T> sender) {
    if (sender.waiting.isEmpty() && sender != served && sender.spentNanos == 0) {
      senders.remove(sender.user);
    }
  }

  /** Takes all heartbeats that wait. */
  public List<T> all() {
    List<T> all = new ArrayList<>();
    for (Sender<T> sender : turns) {
      sender.waiting.forEach(each -> all.add(each.heartbeat()));
    }
    senders.clear();
    turns.clear();
    count = 0;
    bytes = 0;
    return all;
  }
}
