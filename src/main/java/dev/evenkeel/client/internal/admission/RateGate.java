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
import dev.evenkeel.util.TokenBucket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The last admission step: limits the rate at which messages begin, of the whole consumer, of each
 * key, of the whole group, or several of them. A message that may not begin yet waits here. It
 * takes no handler, and holds up its own key only.
 *
 * <pre>
 * waits for a token of its key          --the token is due--> in turn
 * a token of its key is there           in turn
 * in turn, a handler is free and the consumer's and the group's tokens are there
 *                                                   --> AT WORK, the tokens are taken
 * over the rate of its key, behind another one --OverRate says so--> finished: dropped
 * </pre>
 *
 * <p>Keys whose token is there take turns, one message each, so that none waits for ever. Messages
 * of a key begin in the order in which they came.
 *
 * <p>All calls come from one thread at a time; {@code now} is a monotonic clock in milliseconds.
 */
public final class RateGate implements MessageSource<Task> {
  /** Most keys with a bucket at a time. Past it the consumer waits until a bucket is full. */
  public static final int KEYS_MAX = 65_536;

  /** A handover waits for messages whose turn comes within 1 s. */
  private static final long AWAITED_NANOS = 1_000 * TokenBucket.NANOS_PER_MILLI;

  private final ConsumerCore core;

  /** The step before this one. */
  private final Admission before;

  private final DedupKeys keys;
  private final String member;
  private final int parallel;
  private final OverRate overRate;
  private final Consumer<Delivery> onDropped;

  /** Of the whole consumer, and of its group. */
  private final StartTokens total;

  /** Null: keys have no rate. */
  private final TokenBucket ofKey;

  final KeyBuckets buckets;

  /** The bucket of all messages that have no rate of their own. */
  private final Bucket free = new Bucket(null);

  private final ArrayDeque<Bucket> inTurn = new ArrayDeque<>();

  private final PriorityQueue<Bucket> byDue =
      new PriorityQueue<>((a, b) -> Long.compare(a.dueNanos, b.dueNanos));

  /** A message that waits because there is no bucket for its key, or null. */
  private Task withoutBucket;

  private int waiting;
  private int drops;
  private long delayed;
  private long dropped;

  /**
   * @param before the step whose messages come here; the core, if there is none
   * @param shared the rate of the whole group; null: there is none
   * @param keysMax keys whose rate is known at once: {@link #KEYS_MAX}, in tests fewer
   * @param onDropped gets each message that is finished without its handler
   */
  public RateGate(
      ConsumerCore core,
      Admission before,
      ConsumerOptions options,
      SharedTokens shared,
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
    total = new StartTokens(bucket(options.getRate()), shared);
    ofKey = bucket(options.getKeyRate());
    buckets = new KeyBuckets(keysMax);
  }

  private static TokenBucket bucket(Rate rate) {
    return rate == null
        ? null
        : TokenBucket.of(rate.permits(), rate.periodMillis() * TokenBucket.NANOS_PER_MILLI);
  }

  @Override
  public Task next(long now) {
    long nanos = now * TokenBucket.NANOS_PER_MILLI;
    forgetUnwanted();
    Task claimed = core.claimed(now);
    if (claimed != null) {
      return claimed;
    }
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

  /**
   * Whether to take another message. Buckets in turn wait for the consumer's rate or for a handler,
   * so more of them would not help.
   */
  private boolean mayTake() {
    return withoutBucket == null && (inTurn.isEmpty() || ofKey != null && inTurn.size() < parallel);
  }

  private void wake(long nanos) {
    Bucket bucket;
    while ((bucket = byDue.peek()) != null && bucket.dueNanos <= nanos) {
      byDue.poll();
      inTurn.add(bucket);
    }
    Task waits = withoutBucket;
    if (waits != null && buckets.roomNanos() <= nanos) {
      Bucket found = buckets.of(keys.key(waits.topic(), keys.bytes(waits.message())), nanos);
      if (found != null) {
        withoutBucket = null;
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
      withoutBucket = task;
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
      dropOverRate(task, now, nanos);
    }
  }

  private void wait(Task task, Bucket bucket, long nanos) {
    task.rateData = bucket;
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
      if (!core.mayBegin(now) || !total.available(nanos)) {
        return null;
      }
      inTurn.poll();
      Task task = bucket.waiting.poll();
      waiting--;
      total.take(nanos);
      if (bucket.hasRate()) {
        bucket.full = ofKey.taken(bucket.full, nanos);
      }
      bucket.queued = false;
      if (!bucket.waiting.isEmpty()) {
        queue(bucket, nanos);
      }
      leave(task);
      before.begin(task);
      if (!core.holds(task, now)) {
        return task;
      }
    }
    return null;
  }

  private static void leave(Task task) {
    task.rateData = null;
    task.watched = false;
  }

  // Dropping

  private void drop(Task task, long now) {
    waiting--;
    leave(task);
    finishWithoutHandler(task, now);
  }

  /** Drops messages over the rate that came to wait behind a message that waits here. */
  private void dropCrowded(long now, long nanos) {
    Task front;
    while ((front = core.pollCrowded()) != null) {
      if (front.rateData != null && before.isWanted(front)) {
        dropOverRate(front, now, nanos);
      }
    }
  }

  /**
   * Drops messages with the same key behind a message that waits here, in the queue of its key.
   * Those of them that find no token are over the rate, and one of these goes on waiting.
   */
  private void dropOverRate(Task front, long now, long nanos) {
    Bucket bucket = (Bucket) front.rateData;
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
    // The message that waits over the rate is the one in front, or one of these.
    int from = within < 0 ? 0 : oldest ? within : within + 1;
    int to = within < 0 || !oldest ? same.size() : same.size() - 1;
    if (from < to) {
      Set<Task> over = new HashSet<>(same.subList(from, to));
      core.takeBehind(front, over);
      over.forEach(each -> finishWithoutHandler(each, now));
    }
  }

  private void finishWithoutHandler(Task task, long now) {
    dropped++;
    Delivery delivery = task.delivery(member);
    before.declined(task, now);
    onDropped.accept(delivery);
  }

  /** Forgets messages that went with their shards. */
  private void forgetUnwanted() {
    if (drops == before.dropped()) {
      return;
    }
    drops = before.dropped();
    if (withoutBucket != null && !before.isWanted(withoutBucket)) {
      withoutBucket = null;
    }
    waiting = withoutBucket == null ? 0 : 1;
    inTurn.forEach(this::forgetUnwanted);
    byDue.forEach(this::forgetUnwanted);
  }

  private void forgetUnwanted(Bucket bucket) {
    bucket.waiting.removeIf(task -> !before.isWanted(task));
    waiting += bucket.waiting.size();
  }

  // Time

  /**
   * When {@link #next} may return a message that it does not return now, if nothing else happens
   * before; {@link Long#MAX_VALUE}: never.
   */
  public long dueMillis(long now) {
    long due = Long.MAX_VALUE;
    if (!inTurn.isEmpty() && core.mayBegin(now)) {
      due = total.dueNanos();
    }
    if (!byDue.isEmpty()) {
      due = Math.min(due, byDue.peek().dueNanos);
    }
    if (withoutBucket != null) {
      due = Math.min(due, buckets.roomNanos());
    }
    return due == Long.MAX_VALUE ? due : -Math.floorDiv(-due, TokenBucket.NANOS_PER_MILLI);
  }

  /**
   * Called every few 10 ms. A handover does not wait for messages whose turn is far away: they go
   * to the next owner, with those that were finished above them. With state it does wait, because
   * their effect on the state would be lost, and with at most once, because the messages would be.
   */
  public void tick(long now) {
    if (waiting == 0 || !core.mayGiveBack()) {
      return;
    }
    long soon = now * TokenBucket.NANOS_PER_MILLI + AWAITED_NANOS;
    boolean totalFar = total.isAfter(soon);
    inTurn.forEach(bucket -> giveBack(bucket.waiting, totalFar));
    byDue.forEach(bucket -> giveBack(bucket.waiting, totalFar || bucket.dueNanos > soon));
    if (withoutBucket != null) {
      giveBack(List.of(withoutBucket), totalFar || buckets.roomNanos() > soon);
    }
  }

  private void giveBack(Iterable<Task> some, boolean far) {
    if (far) {
      some.forEach(core::giveBack);
    }
  }

  // Batches: there are none with a rate of keys, nor with dedup

  @Override
  public Task nextWith(Task first, long now) {
    long nanos = now * TokenBucket.NANOS_PER_MILLI;
    Task task = total.available(nanos) ? before.nextWith(first, now) : null;
    if (task != null) {
      total.take(nanos);
    }
    return task;
  }

  @Override
  public void batchEnded(List<Task> tasks, Throwable failure, long now) {
    before.batchEnded(tasks, failure, now);
  }

  // Handlers end

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
