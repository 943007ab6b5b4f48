package dev.evenkeel.client.internal.admission;

import dev.evenkeel.bus.Figures;
import dev.evenkeel.bus.GroupFigure;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.OverRate;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.Rate;
import dev.evenkeel.client.internal.admission.KeyBuckets.Bucket;
import dev.evenkeel.client.internal.consume.Admission;
import dev.evenkeel.client.internal.consume.ConsumerCore;
import dev.evenkeel.client.internal.consume.MessageSource;
import dev.evenkeel.client.internal.consume.Task;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The last admission step: keeps handlers to a rate, of the whole consumer, of each key, or both. A
 * message that may not begin yet waits here: it takes no handler, and blocks its own key only.
 *
 * <pre>
 * waits, its key's token is not there   --the token is due--> in turn
 * waits, its key's token is there       in turn
 * in turn, the consumer's token is there and a handler is free --> AT WORK, both tokens are taken
 * waits over its key's rate, behind another of the same --the rule says so--> finished: dropped
 * </pre>
 *
 * <p>Keys whose token is there take turns, one message each, so that none waits for ever. Messages
 * of a key begin in the order in which they came.
 *
 * <p>All calls come from one thread at a time; {@code now} is a monotonic clock in milliseconds.
 */
public final class RateGate implements MessageSource<Task> {
  /** Keys whose rate is known at once; past it the consumer waits until one's bucket is full. */
  public static final int KEYS_MAX = 65_536;

  /** A hand-over waits for a message whose turn is no further than 1 s. */
  private static final long AWAITED_NANOS = 1_000 * TokenBucket.NANOS_PER_MILLI;

  private final ConsumerCore core;

  /** The step before this one. */
  private final Admission before;

  private final DedupKeys keys;
  private final String member;
  private final int parallel;
  private final OverRate overRate;
  private final Consumer<Delivery> onDropped;

  /** Null: the consumer has no rate of its own. */
  private final TokenBucket total;

  private long totalFull = TokenBucket.ALWAYS_FULL;

  /** Null: keys have no rate. */
  private final TokenBucket ofKey;

  final KeyBuckets buckets;

  /** Of all messages that have no rate of their own. */
  private final Bucket free = new Bucket(null);

  private final ArrayDeque<Bucket> inTurn = new ArrayDeque<>();

  private final PriorityQueue<Bucket> byDue =
      new PriorityQueue<>((a, b) -> Long.compare(a.dueNanos, b.dueNanos));

  /** A message that waits, for whose key there is no bucket, or null. */
  private Task roomless;

  private int waiting;
  private int drops;
  private long delayed;
  private long dropped;

  /**
   * @param before the step whose messages come here; the core, if there is none
   * @param keysMax keys whose rate is known at once: {@link #KEYS_MAX}, in tests fewer
   * @param onDropped is given each message that is finished without its handler
   */
  public RateGate(
      ConsumerCore core,
      Admission before,
      ConsumerOptions options,
      DedupKeys keys,
      int keysMax,
      Consumer<Delivery> onDropped) {
    this.core = core;
    this.before = before;
    this.keys = keys;
    this.onDropped = onDropped;
    member = options.getMember();
    parallel = options.getParallel();
    overRate = options.getOverRate();
    total = bucket(options.getRate());
    ofKey = bucket(options.getKeyRate());
    buckets = new KeyBuckets(keysMax);
  }

  private static TokenBucket bucket(Rate rate) {
    return rate == null ? null : new TokenBucket(rate);
  }

  @Override
  public Task next(long now) {
    long nanos = now * TokenBucket.NANOS_PER_MILLI;
    forgetUnwanted();
    while (true) {
      wake(nanos);
      dropCrowded(now, nanos);
      Task task = begin(now, nanos);
      if (task != null) {
        return task;
      }
      if (!mayTake()) {
        return null;
      }
      Task came = before.admit(now);
      if (came == null) {
        dropCrowded(now, nanos);
        return null;
      }
      waiting++;
      arrive(came, now, nanos);
    }
  }

  /** What is in turn waits for the consumer's rate or for a handler: more of it helps nobody. */
  private boolean mayTake() {
    return roomless == null && (inTurn.isEmpty() || ofKey != null && inTurn.size() < parallel);
  }

  private void wake(long nanos) {
    Bucket bucket;
    while ((bucket = byDue.peek()) != null && bucket.dueNanos <= nanos) {
      byDue.poll();
      inTurn.add(bucket);
    }
    Task waits = roomless;
    if (waits != null && buckets.roomNanos() <= nanos) {
      Bucket found = buckets.of(keys.key(waits.topic(), keys.bytes(waits.message())), nanos);
      if (found != null) {
        roomless = null;
        wait(waits, found, nanos);
      }
    }
  }

  private void arrive(Task task, long now, long nanos) {
    byte[] bytes = ofKey == null ? null : keys.bytes(task.message());
    if (bytes == null) {
      wait(task, free, nanos);
      return;
    }
    Bucket bucket = buckets.of(keys.key(task.topic(), bytes), nanos);
    if (bucket == null) {
      roomless = task;
      return;
    }
    int over = bucket.waiting.size() - ofKey.available(bucket.full, nanos);
    if (over > 0 && overRate == OverRate.DROP_NEWEST) {
      drop(task, now);
      return;
    }
    if (over > 0 && overRate == OverRate.DROP_OLDEST) {
      drop(bucket.waiting.pollLast(), now);
    }
    wait(task, bucket, nanos);
    if (overRate != OverRate.WAIT) {
      task.watched = true;
      thin(task, now, nanos);
    }
  }

  private void wait(Task task, Bucket bucket, long nanos) {
    task.ratePlace = bucket;
    bucket.waiting.add(task);
    if (!bucket.queued) {
      queue(bucket, nanos);
    }
    if (bucket.hasRate() && ofKey.due(bucket.full) > nanos) {
      delayed++;
    }
  }

  private void queue(Bucket bucket, long nanos) {
    bucket.queued = true;
    bucket.dueNanos = bucket.hasRate() ? ofKey.due(bucket.full) : nanos;
    if (bucket.dueNanos <= nanos) {
      inTurn.add(bucket);
    } else {
      byDue.add(bucket);
    }
  }

  /** The next message that may go to a handler now. */
  private Task begin(long now, long nanos) {
    while (!inTurn.isEmpty()) {
      Bucket bucket = inTurn.peek();
      if (bucket.waiting.isEmpty()) {
        inTurn.poll();
        bucket.queued = false;
        continue;
      }
      boolean token = total == null || total.due(totalFull) <= nanos;
      if (!token || !core.mayBegin(now)) {
        return null;
      }
      inTurn.poll();
      Task task = bucket.waiting.poll();
      waiting--;
      if (total != null) {
        totalFull = total.taken(totalFull, nanos);
      }
      if (bucket.hasRate()) {
        bucket.full = ofKey.taken(bucket.full, nanos);
      }
      bucket.queued = false;
      if (!bucket.waiting.isEmpty()) {
        queue(bucket, nanos);
      }
      leave(task);
      before.begin(task);
      return task;
    }
    return null;
  }

  private static void leave(Task task) {
    task.ratePlace = null;
    task.watched = false;
  }

  // Dropping

  private void drop(Task task, long now) {
    waiting--;
    leave(task);
    finishUntaken(task, now);
  }

  /** Messages came to stand behind ones that wait here, in the queue of their key. */
  private void dropCrowded(long now, long nanos) {
    Task front;
    while ((front = core.pollCrowded()) != null) {
      if (front.ratePlace != null && before.isWanted(front)) {
        thin(front, now, nanos);
      }
    }
  }

  /**
   * The same ones behind one that waits here, in the queue of their key, come after it: those of
   * them all that find no token are over the rate, and one of these goes on waiting.
   */
  private void thin(Task front, long now, long nanos) {
    Bucket bucket = (Bucket) front.ratePlace;
    byte[] bytes = keys.bytes(front.message());
    List<Task> same = new ArrayList<>();
    core.behind(front).forEachRemaining(same::add);
    same.removeIf(each -> !Arrays.equals(bytes, keys.bytes(each.message())));
    int within = ofKey.available(bucket.full, nanos) - bucket.waiting.size();
    boolean oldest = overRate == OverRate.DROP_OLDEST;
    if (within < 0 && oldest && !same.isEmpty()) {
      bucket.waiting.remove(front);
      drop(front, now);
      return;
    }
    // Who waits over the rate: the one in front, or one of these.
    int from = within < 0 ? 0 : oldest ? within : within + 1;
    int to = within < 0 || !oldest ? same.size() : same.size() - 1;
    if (from < to) {
      Set<Task> over = new HashSet<>(same.subList(from, to));
      core.takeBehind(front, over);
      over.forEach(each -> finishUntaken(each, now));
    }
  }

  private void finishUntaken(Task task, long now) {
    dropped++;
    Delivery delivery = task.delivery(member);
    before.declined(task, now);
    onDropped.accept(delivery);
  }

  /** Shards that went took messages with them. */
  private void forgetUnwanted() {
    if (drops == before.dropped()) {
      return;
    }
    drops = before.dropped();
    if (roomless != null && !before.isWanted(roomless)) {
      roomless = null;
    }
    waiting = roomless == null ? 0 : 1;
    inTurn.forEach(this::forgetUnwanted);
    byDue.forEach(this::forgetUnwanted);
  }

  private void forgetUnwanted(Bucket bucket) {
    bucket.waiting.removeIf(task -> !before.isWanted(task));
    waiting += bucket.waiting.size();
  }

  // Time

  /**
   * When {@link #next} may give something that it does not give now, if nothing else happens
   * before; {@link Long#MAX_VALUE}: never.
   */
  public long dueMillis(long now) {
    long due = Long.MAX_VALUE;
    if (!inTurn.isEmpty() && total != null && core.mayBegin(now)) {
      due = total.due(totalFull);
    }
    if (!byDue.isEmpty()) {
      due = Math.min(due, byDue.peek().dueNanos);
    }
    if (roomless != null) {
      due = Math.min(due, buckets.roomNanos());
    }
    return due == Long.MAX_VALUE ? due : -Math.floorDiv(-due, TokenBucket.NANOS_PER_MILLI);
  }

  /**
   * To be called every few 10 ms. A hand-over does not wait for messages whose turn is far: they
   * come to the next owner, with what was finished above them. With state it waits, for that would
   * be lost; so it does with at most once, for these messages themselves would be.
   */
  public void tick(long now) {
    if (waiting == 0 || !core.mayGiveBack()) {
      return;
    }
    long soon = now * TokenBucket.NANOS_PER_MILLI + AWAITED_NANOS;
    boolean totalFar = total != null && total.due(totalFull) > soon;
    inTurn.forEach(bucket -> giveBack(bucket.waiting, totalFar));
    byDue.forEach(bucket -> giveBack(bucket.waiting, totalFar || bucket.dueNanos > soon));
    if (roomless != null) {
      giveBack(List.of(roomless), totalFar || buckets.roomNanos() > soon);
    }
  }

  private void giveBack(Iterable<Task> some, boolean far) {
    if (far) {
      some.forEach(core::giveBack);
    }
  }

  // What came of it

  @Override
  public void finished(Task task, long now) {
    before.finished(task, now);
  }

  @Override
  public void failed(Task task, Throwable cause, long now) {
    before.failed(task, cause, now);
  }

  public Figures rates() {
    return Figures.of(GroupFigure.Section.RATES, delayed, dropped, waiting, core.shardsFull());
  }
}
