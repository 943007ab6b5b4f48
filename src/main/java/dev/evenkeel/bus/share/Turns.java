package dev.evenkeel.bus.share;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Tasks that wait, in the turns of the users that sent them. The next one is of the user on whom
 * the least time was spent. So whatever the tasks of one user cost, one of another user waits for
 * one task of each user at most, and each user has an equal part of the time, or one by its share,
 * as long as it sends enough. Tasks of one user keep their order, and one of them is under way at a
 * time.
 *
 * <p>This is start-time fair queuing (P. Goyal, H. Vin, H. Cheng, 1996), where the cost of a task
 * is only known after it: a user that comes back counts as if it had had as much time as the
 * others.
 *
 * <p>How many may wait, and how large they may be, is divided among users as by {@link FairShare}.
 * No clock and no I/O. Not thread-safe.
 *
 * @param <T> a task
 */
public final class Turns<T> {
  private record Waiting<T>(T task, long bytes) {}

  private static final class Sender<T> {
    final String user;
    final Deque<Waiting<T>> waiting = new ArrayDeque<>();
    long bytes;
    boolean served;

    /** Time spent on it, or that counts as if it had been. */
    long spentNanos;

    Sender(String user) {
      this.user = user;
    }
  }

  /** A task that has its turn, until {@link #spent}. */
  public static final class Turn<T> {
    private final Sender<T> sender;
    private final T task;

    private Turn(Sender<T> sender, T task) {
      this.sender = sender;
      this.task = task;
    }

    public T task() {
      return task;
    }
  }

  private final int waitingMax;
  private final long waitingBytesMax;
  private final ToDoubleFunction<String> weights;
  private final Map<String, Sender<T>> senders = new HashMap<>();

  /** Those of which tasks wait and none is under way; the first has its turn. */
  private final TreeSet<Sender<T>> turns =
      new TreeSet<>(
          Comparator.comparingLong((Sender<T> sender) -> sender.spentNanos)
              .thenComparing(sender -> sender.user));

  /** What the user had when it got its turn that got it last. */
  private long virtualNanos;

  private int underWay;
  private int count;
  private long bytes;

  /**
   * @param waitingMax most tasks that wait
   * @param waitingBytesMax most bytes of tasks that wait
   * @param weights the share of each user, see {@link FairShare}
   */
  public Turns(int waitingMax, long waitingBytesMax, ToDoubleFunction<String> weights) {
    this.waitingMax = waitingMax;
    this.waitingBytesMax = waitingBytesMax;
    this.weights = weights;
  }

  /**
   * Adds a task.
   *
   * @param user null: unknown
   * @return false if there is no room, because of the others of its user
   */
  public boolean add(@Nullable String user, T task, long itsBytes) {
    String name = user == null ? "" : user;
    Sender<T> known = senders.get(name);
    Sender<T> sender = known == null ? new Sender<>(name) : known;
    boolean fits =
        fits(sender.waiting.size(), 1, count, waitingMax, user)
            && fits(sender.bytes, itsBytes, bytes, waitingBytesMax, user);
    if (fits) {
      senders.put(name, sender);
      if (sender.waiting.isEmpty() && !sender.served) {
        sender.spentNanos = Math.max(sender.spentNanos, virtualNanos);
        turns.add(sender);
      }
      sender.waiting.add(new Waiting<>(task, itsBytes));
      sender.bytes += itsBytes;
      bytes += itsBytes;
      count++;
    }
    return fits;
  }

  private boolean fits(long own, long more, long all, long max, @Nullable String user) {
    return user == null
        ? all + more <= max
        : FairShare.fits(own, all, more, max, weights.applyAsDouble(user));
  }

  /** Takes the next task; {@link #spent} follows. Null: none may begin. */
  public @Nullable Turn<T> next() {
    Sender<T> sender = turns.pollFirst();
    if (sender == null) {
      return null;
    }
    sender.served = true;
    underWay++;
    virtualNanos = sender.spentNanos;
    Waiting<T> next = sender.waiting.remove();
    sender.bytes -= next.bytes();
    bytes -= next.bytes();
    count--;
    return new Turn<>(sender, next.task());
  }

  /** The task is over; it has taken so much time. */
  public void spent(Turn<T> turn, long nanos) {
    Sender<T> sender = turn.sender;
    sender.served = false;
    underWay--;
    double weight = sender.user.isEmpty() ? 1 : weights.applyAsDouble(sender.user);
    // A clock of coarse ticks shows no time for some.
    sender.spentNanos += Math.max(1, (long) (nanos / weight));
    if (!sender.waiting.isEmpty()) {
      turns.add(sender);
    }
    if (count == 0 && underWay == 0) {
      // Nobody waits, so nobody has had less than others.
      senders.clear();
      virtualNanos = 0;
    }
  }

  /** How many tasks wait. */
  public int waiting() {
    return count;
  }

  /** Takes all tasks that wait. */
  public List<T> all() {
    List<T> all = new ArrayList<>();
    for (Sender<T> sender : senders.values()) {
      sender.waiting.forEach(each -> all.add(each.task()));
      sender.waiting.clear();
      sender.bytes = 0;
    }
    turns.clear();
    count = 0;
    bytes = 0;
    return all;
  }
}
