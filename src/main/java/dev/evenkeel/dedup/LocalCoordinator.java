package dev.evenkeel.dedup;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

/**
 * A coordinator within one JVM. It spreads keys over stripes, each with a lock that is held for
 * some ten nanoseconds; there is no global lock.
 *
 * <p>It drops the automaton of a key as soon as that is in state INIT. Beyond {@code keysMax} keys,
 * it drops the least recently used one: the head learns that when it gives its place back, the
 * waiter goes ahead at once, and both count as evicted. Each stripe has an equal part of the limit.
 * Up to {@link #STRIPE_KEYS} keys there is one stripe, so that the order is exact.
 *
 * @param <K> type of keys
 */
public final class LocalCoordinator<K> implements QueueCoordinator<K> {
  /** Keys per stripe. */
  static final int STRIPE_KEYS = 4_096;

  private static final int STRIPES_MAX = 64;

  /** Most heads to evict while a stripe is locked. */
  private static final int EVICTED_AT_ONCE_MAX = 64;

  /** By ordinal. */
  private static final List<CompletionStage<Departure>> DEPARTED =
      Stream.of(Departure.values()).map(CompletableFuture::completedStage).toList();

  private final Stripe<K>[] stripes;
  private final long headMillisMax;

  /**
   * @param keysMax most keys at once, at least 1
   * @param headMillisMax a head that works for longer is evicted
   */
  public LocalCoordinator(int keysMax, long headMillisMax) {
    if (keysMax < 1 || headMillisMax < 1) {
      throw new IllegalArgumentException("both limits must be 1 or more");
    }
    this.headMillisMax = headMillisMax;
    int count = Math.max(1, Math.min(STRIPES_MAX, Integer.highestOneBit(keysMax / STRIPE_KEYS)));
    stripes = stripes(count);
    for (int i = 0; i < count; i++) {
      stripes[i] = new Stripe<>(keysMax / count, i + 1, count);
    }
  }

  @SuppressWarnings("unchecked")
  private static <K> Stripe<K>[] stripes(int count) {
    return (Stripe<K>[]) new Stripe<?>[count];
  }

  /** The high bits choose the stripe, the low ones the bucket in it. */
  private Stripe<K> stripe(int hash) {
    return stripes[hash >>> 20 & stripes.length - 1];
  }

  private static int spread(int hash) {
    int mixed = hash * 0x9e3779b9;
    return mixed ^ mixed >>> 15;
  }

  @Override
  public Ticket<K> enQueue(K key, Worker worker, long nowMillis) {
    int hash = spread(key.hashCode());
    return stripe(hash).enQueue(key, hash, worker, nowMillis);
  }

  @Override
  public CompletionStage<Departure> deQueue(Ticket<K> ticket, long nowMillis) {
    return DEPARTED.get(leave((LocalTicket<K>) ticket, nowMillis).ordinal());
  }

  /** Like {@link #deQueue}, but returns the result itself. */
  Departure leave(LocalTicket<K> ticket, long nowMillis) {
    return stripe(ticket.hash).deQueue(ticket, nowMillis);
  }

  @Override
  public void tick(long nowMillis) {
    List<LocalTicket<K>> woken = new ArrayList<>();
    for (Stripe<K> stripe : stripes) {
      int evicted;
      do {
        evicted = stripe.evictOverdue(nowMillis, headMillisMax, EVICTED_AT_ONCE_MAX, woken);
        wake(woken);
      } while (evicted == EVICTED_AT_ONCE_MAX);
    }
  }

  /**
   * Removes the claims of all members that are not in {@code alive}.
   *
   * @return how many claims were removed
   */
  public CompletionStage<Integer> sweep(long nowMillis, Set<String> alive) {
    List<LocalTicket<K>> woken = new ArrayList<>();
    int dropped = 0;
    for (Stripe<K> stripe : stripes) {
      dropped += stripe.dropDead(alive::contains, nowMillis, woken);
      wake(woken);
    }
    return CompletableFuture.completedStage(dropped);
  }

  private static <K> void wake(List<LocalTicket<K>> woken) {
    woken.forEach(LocalTicket::wake);
    woken.clear();
  }

  @Override
  public DedupFigures figures() {
    DedupFigures sum = DedupFigures.NONE;
    for (Stripe<K> stripe : stripes) {
      sum = sum.plus(stripe.figures());
    }
    return sum;
  }

  /** For tests: the number of keys that fit into the tables now. */
  int capacity() {
    int sum = 0;
    for (Stripe<K> stripe : stripes) {
      sum += stripe.capacity();
    }
    return sum;
  }
}
