package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.FENCED;
import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.OVERLOADED;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.broker.quota.GroupDebts;
import dev.evenkeel.broker.state.FailureCounts;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.TailCache.Cached;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchManyAnswer;
import dev.evenkeel.bus.FetchManyRequest;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Answers fetches, and keeps those for which there are no messages yet. Runs on one context.
 *
 * <p>A waiting fetch is looked at again whenever its shard, its lease or the leadership changes,
 * with the same checks as when it came. Fetches of one FETCH_MANY wait together: once there is
 * something for one of them, all that came in the same turn of the event loop is sent.
 */
public final class FetchService {
  /** Room for the bytes around the batches of an answer. */
  private static final int ANSWER_SPARE_BYTES = 4_096;

  private final ServeContext serve;
  private final RequestMetrics meters;
  private final GroupDebts debts;
  private final Map<Shard, Set<Waiting>> waiting = new HashMap<>();
  private int waitingCount;

  /** A request that has not been answered, with one fetch or many. */
  private final class Waiting {
    final List<FetchRequest> fetches;
    final boolean many;
    final Promise<Buffer> promise = Promise.promise();

    /** Answers by the indices of the fetches; null: none yet. */
    final Future<?>[] answers;

    /** Fetches for which this request still waits. */
    final boolean[] open;

    int openCount;
    int bytesLeft = Limits.FETCH_MANY_BYTES_MAX;
    long timer = -1;

    /** The answer is sent in a moment. */
    boolean ending;

    Waiting(List<FetchRequest> fetches, boolean many) {
      this.fetches = fetches;
      this.many = many;
      answers = new Future<?>[fetches.size()];
      open = new boolean[fetches.size()];
    }

    /** Looks whether there is something for a fetch. Returns whether there is. */
    boolean look(int index) {
      FetchRequest request = fetches.get(index);
      int bytesMax = many ? Math.min(request.bytesMax(), bytesLeft) : request.bytesMax();
      if (bytesMax <= 0) {
        return false;
      }
      Future<Buffer> answer;
      try {
        answer = tryServe(request, !many, bytesMax);
      } catch (RefusedException refused) {
        answer = Future.failedFuture(refused);
      }
      if (answer == null) {
        return false;
      }
      bytesLeft -= answer.succeeded() ? answer.result().length() : bytesMax;
      answers[index] = answer;
      return true;
    }

    void await() {
      Arrays.fill(open, true);
      openCount = open.length;
      waitingCount += openCount;
      for (FetchRequest each : fetches) {
        waiting.computeIfAbsent(each.shard(), any -> new LinkedHashSet<>(2)).add(this);
      }
      timer = serve.vertx().setTimer(fetches.get(0).waitMillis(), id -> endInVain());
    }

    private void endInVain() {
      if (!ending) {
        meters.fetchedNothing();
      }
      end();
    }

    /** Looks again at the fetches of a shard. */
    void again(Shard shard) {
      for (int i = 0; i < open.length; i++) {
        if (open[i] && fetches.get(i).shard().equals(shard) && look(i)) {
          answered(i);
        }
      }
    }

    /** A fetch of the group for this shard, if there is one, gets an answer without messages. */
    void answerNothing(Shard shard, String group) {
      for (int i = 0; i < open.length; i++) {
        FetchRequest each = fetches.get(i);
        if (open[i] && each.shard().equals(shard) && each.group().equals(group)) {
          answers[i] = nothing(each);
          answered(i);
        }
      }
    }

    /** A fetch of the same owner for this shard, if there is one, is no longer awaited. */
    void giveUp(FetchRequest later) {
      for (int i = 0; i < open.length; i++) {
        FetchRequest each = fetches.get(i);
        boolean same =
            each.shard().equals(later.shard())
                && each.group().equals(later.group())
                && each.epoch() == later.epoch();
        if (open[i] && same && !many) {
          answers[i] = nothing(each);
          answered(i);
        } else if (open[i] && same) {
          close(i);
        }
      }
      if (openCount == 0) {
        end();
      }
    }

    private void answered(int index) {
      close(index);
      if (!many) {
        end();
      } else if (!ending) {
        ending = true;
        serve.run(this::end);
      }
    }

    private void close(int index) {
      open[index] = false;
      openCount--;
      waitingCount--;
      Shard shard = fetches.get(index).shard();
      for (int i = 0; i < open.length; i++) {
        if (open[i] && fetches.get(i).shard().equals(shard)) {
          return;
        }
      }
      Set<Waiting> of = waiting.get(shard);
      of.remove(this);
      if (of.isEmpty()) {
        waiting.remove(shard);
      }
    }

    /** No longer waits for anything. */
    void stop() {
      serve.vertx().cancelTimer(timer);
      for (int i = 0; i < open.length; i++) {
        if (open[i]) {
          close(i);
        }
      }
    }

    /** Sends what there is. */
    void end() {
      if (promise.future().isComplete()) {
        return;
      }
      stop();
      answer().onComplete(promise::tryComplete, promise::tryFail);
    }

    @SuppressWarnings("unchecked")
    Future<Buffer> answer() {
      if (!many) {
        return answers[0] == null ? nothing(fetches.get(0)) : (Future<Buffer>) answers[0];
      }
      List<Future<?>> there = Arrays.stream(answers).filter(each -> each != null).toList();
      return Future.join(there).transform(done -> Future.succeededFuture(joined()));
    }

    private Buffer joined() {
      List<FetchManyAnswer.Part> parts = new ArrayList<>();
      for (int i = 0; i < answers.length; i++) {
        Future<?> answer = answers[i];
        if (answer != null) {
          Buffer frame =
              answer.succeeded() ? (Buffer) answer.result() : Frames.refusal(answer.cause());
          parts.add(new FetchManyAnswer.Part(i, frame));
        }
      }
      return new FetchManyAnswer(parts).encode();
    }
  }

  FetchService(ServeContext serve, NodeQuotas quotas) {
    this.serve = serve;
    debts = quotas.debts(this::shardChanged);
    meters = serve.meters();
  }

  /** Answers a FETCH request, perhaps later. */
  Future<Buffer> fetch(Buffer body) {
    FetchRequest request = FetchRequest.decode(Frames.body(body));
    if (request.group().isEmpty()) {
      throw INVALID.error("a fetch needs a group; to look around, browse");
    }
    meters.fetchCame();
    return answer(new Waiting(List.of(request), false));
  }

  /** Answers a FETCH_MANY request, perhaps later. */
  Future<Buffer> fetchMany(Buffer body) {
    FetchManyRequest request = FetchManyRequest.decode(Frames.body(body));
    meters.fetchCame();
    return answer(new Waiting(request.fetches(), true));
  }

  /**
   * Answers a BROWSE request, perhaps later. One that may wait comes from a consumer in mode
   * broadcast, which needs no lease, and counts as a fetch.
   */
  Future<Buffer> browse(Buffer body) {
    FetchRequest request = FetchRequest.decode(Frames.body(body)).browse();
    if (request.waitMillis() > 0) {
      meters.fetchCame();
    }
    return answer(new Waiting(List.of(request), false));
  }

  private Future<Buffer> answer(Waiting request) {
    boolean any = false;
    for (int i = 0; i < request.fetches.size(); i++) {
      any |= request.look(i);
    }
    FetchRequest first = request.fetches.get(0);
    if (any) {
      return request.answer();
    }
    if (first.waitMillis() > 0) {
      return await(request);
    }
    if (!first.group().isEmpty()) {
      meters.fetchedNothing();
    }
    return request.answer();
  }

  /**
   * The answer, or null if there is nothing yet.
   *
   * @param alone whether the answer is sent as it is
   * @param bytes most bytes of the answer
   * @throws RefusedException if the request cannot be served here or now
   */
  private Future<Buffer> tryServe(FetchRequest request, boolean alone, int bytes) {
    boolean owner = !request.group().isEmpty();
    Shard shard = request.shard();
    LogGroupServer group = serve.groupOf(shard);
    group.requireReady();
    ShardRecord record = group.shard(shard);
    boolean consumer = owner || request.waitMillis() > 0;
    Lease lease = owner ? leaseOf(group, request) : null;
    if (owner && lease == null) {
      return null;
    }
    long offset = request.isAhead() ? lease.committed() : request.offset();
    if (offset < record.start() || offset > record.end()) {
      throw outOfRange(record);
    }
    int failures = failures(group, request);
    if (offset == record.end()) {
      if (failures == request.failuresKnown()
          || request.failuresKnown() == FetchRequest.FAILURES_UNKNOWN) {
        return null;
      }
      // The owner must learn of retries now, not only when the next message arrives.
      meters.fetchedNothing();
      return nothing(request);
    }
    if (debts.holds(request.group(), shard)) {
      return null;
    }
    long startNanos = System.nanoTime();
    int bytesMax = debts.bytesMax(request.group(), batchBytesMax(bytes));
    int messagesMax = debts.messagesMax(request.group(), request.messagesMax());
    List<Cached> cached =
        group.state().tail().read(shard, offset, record.end(), bytesMax, messagesMax);
    if (!cached.isEmpty()) {
      if (consumer) {
        meters.fetched(cached, startNanos, false);
      }
      delivered(request, cached);
      return Future.succeededFuture(FetchFrame.of(record, failures, cached));
    }
    debts.reading(request.group());
    return new DiskReader(serve, group, shard, bytesMax, messagesMax, owner && alone)
        .read(offset)
        .map(
            found -> {
              if (consumer) {
                meters.fetched(found.batches(), startNanos, true);
              }
              delivered(request, found.batches());
              return FetchFrame.filled(record, failures, found.batches(), found.frame());
            })
        .onFailure(failure -> delivered(request, List.of()))
        .recover(
            failure ->
                !consumer && isLostToItsEnd(failure, record, offset)
                    ? Future.succeededFuture(FetchFrame.of(record, failures, List.of()))
                    : Future.failedFuture(failure));
  }

  /** The group is to pay for these batches. */
  private void delivered(FetchRequest request, List<Cached> batches) {
    if (debts.counts(request.group())) {
      debts.delivered(
          request.group(),
          batches.stream().mapToLong(each -> each.batch().length()).sum(),
          batches.stream().mapToLong(each -> each.batch().count()).sum());
    }
  }

  /**
   * The lease that the request has.
   *
   * @return null if it comes ahead, and the owner has not released the shard yet
   * @throws RefusedException FENCED if it has none and gets none
   */
  private static Lease leaseOf(LogGroupServer group, FetchRequest request) {
    Lease lease = group.state().tables().lease(request.group(), request.shard());
    boolean comes =
        request.isAhead()
            && lease != null
            && lease.ownedAt(request.epoch() - 1)
            && lease.drain() != null
            && lease.drain().heir() != null;
    if (comes) {
      return null;
    }
    requireLease(group, request.group(), request.shard(), request.epoch());
    return lease;
  }

  /** A consumer skips what is lost; whoever only looks around sees nothing there. */
  private static boolean isLostToItsEnd(Throwable failure, ShardRecord record, long offset) {
    return failure instanceof RefusedException.OutOfRange range
        && offset >= record.start()
        && range.start() >= record.end();
  }

  /**
   * A little less than the request asks for: buffers on the way grow by doubling, so a few bytes
   * above a power of two would make each of them twice as large.
   */
  private static int batchBytesMax(int asked) {
    return asked < 16 * ANSWER_SPARE_BYTES ? asked : asked - ANSWER_SPARE_BYTES;
  }

  /**
   * @throws RefusedException FENCED unless the lease is held at that epoch
   */
  static void requireLease(LogGroupServer group, String name, Shard shard, long epoch) {
    Lease lease = group.state().tables().lease(name, shard);
    if (lease == null || !lease.ownedAt(epoch)) {
      throw FENCED.error(
          "epoch %s of %s:%s%s",
          epoch, name, shard, lease == null ? ": there is no lease" : ": the lease is at " + lease);
    }
  }

  static RefusedException outOfRange(ShardRecord record) {
    return new RefusedException.OutOfRange(record.start(), record.end());
  }

  /** How the shard is. */
  private Future<Buffer> nothing(FetchRequest request) {
    LogGroupServer group = serve.groupOf(request.shard());
    try {
      return Future.succeededFuture(
          FetchFrame.of(group.shard(request.shard()), failures(group, request), List.of()));
    } catch (RefusedException refused) {
      return Future.failedFuture(refused);
    }
  }

  private static int failures(LogGroupServer group, FetchRequest request) {
    LeaseKey key = new LeaseKey(request.shard(), request.group());
    FailureCounts failures = group.state().tables().failures(key);
    return FetchAnswer.failures(
        failures.concerningOwner(), group.shard(request.shard()).sealed(), failures.anyMoved());
  }

  private Future<Buffer> await(Waiting request) {
    if (waitingCount + request.fetches.size() > serve.options().fetchesWaitingMax()) {
      throw OVERLOADED.error(waitingCount + " fetches wait already");
    }
    for (FetchRequest each : request.fetches) {
      // An owner that asks again has given up its former fetch: nobody waits for that answer.
      // Whoever
      // gets the shard next asks at another epoch.
      if (!each.group().isEmpty()) {
        waitingFor(each.shard()).forEach(former -> former.giveUp(each));
      }
    }
    request.await();
    // An entry applied between the look and the wait has been announced already, or will be.
    return request.promise.future();
  }

  /** A copy. */
  private List<Waiting> waitingFor(Shard shard) {
    return List.copyOf(waiting.getOrDefault(shard, Set.of()));
  }

  /** Looks again at the fetches that wait for a shard. */
  void shardChanged(Shard shard) {
    waitingFor(shard).forEach(each -> each.again(shard));
  }

  /** Looks again at every waiting fetch of the shards wanted. */
  void changed(Predicate<Shard> wanted) {
    List<Shard> shards = new ArrayList<>(waiting.keySet());
    shards.stream().filter(wanted).forEach(this::shardChanged);
  }

  /** Answers waiting fetches of a group: the shard has retries that its owner did not add. */
  void retriesAdded(LeaseKey key) {
    waitingFor(key.shard()).forEach(each -> each.answerNothing(key.shard(), key.group()));
  }

  /** Shards for which fetches wait now. */
  int waiting() {
    return waitingCount;
  }

  /** Answers all waiting fetches: this node stops. */
  void close() {
    RefusedException stopping = UNAVAILABLE.error("this node is stopping");
    for (Set<Waiting> of : List.copyOf(waiting.values())) {
      for (Waiting each : List.copyOf(of)) {
        each.stop();
        each.promise.tryFail(stopping);
      }
    }
  }
}
