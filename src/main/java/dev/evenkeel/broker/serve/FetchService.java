package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.FENCED;
import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.OVERLOADED;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.TailCache.Cached;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Answers fetches, and keeps those for which there are no messages yet. Runs on one context.
 *
 * <p>A waiting fetch is looked at again whenever its shard, its lease or the leadership changes,
 * with the same checks as when it came.
 */
public final class FetchService {
  /** Room for the bytes around the batches of an answer. */
  private static final int ANSWER_SPARE_BYTES = 4_096;

  private final ServeContext serve;
  private final RequestMetrics meters;
  private final Map<Shard, Set<Waiting>> waiting = new HashMap<>();
  private int waitingCount;

  private record Waiting(FetchRequest request, Promise<Buffer> promise, long timer) {}

  FetchService(ServeContext serve) {
    this.serve = serve;
    meters = serve.meters();
  }

  /** Answers a FETCH request, perhaps later. */
  Future<Buffer> fetch(Buffer body) {
    meters.fetchCame();
    FetchRequest request = FetchRequest.decode(Frames.body(body));
    if (request.group().isEmpty()) {
      throw INVALID.error("a fetch needs a group; to look around, browse");
    }
    return answer(request, true);
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
    return answer(request, false);
  }

  private Future<Buffer> answer(FetchRequest request, boolean owner) {
    Future<Buffer> answer = tryServe(request, owner);
    if (answer != null) {
      return answer;
    }
    if (request.waitMillis() > 0) {
      return await(request);
    }
    return Future.succeededFuture(owner ? waitedInVain(request) : nothing(request));
  }

  /**
   * The answer, or null if there is nothing yet.
   *
   * @throws RefusedException if the request cannot be served here or now
   */
  private Future<Buffer> tryServe(FetchRequest request, boolean owner) {
    Shard shard = request.shard();
    LogGroupServer group = serve.groupOf(shard);
    group.requireReady();
    ShardRecord record = group.shard(shard);
    boolean consumer = owner || request.waitMillis() > 0;
    if (owner) {
      requireLease(group, request.group(), shard, request.epoch());
    }
    long offset = request.offset();
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
      return Future.succeededFuture(waitedInVain(request));
    }
    long startNanos = System.nanoTime();
    int bytesMax = batchBytesMax(request);
    int messagesMax = request.messagesMax();
    List<Cached> cached =
        group.state().tail().read(shard, offset, record.end(), bytesMax, messagesMax);
    if (!cached.isEmpty()) {
      if (consumer) {
        meters.fetched(cached, startNanos, false);
      }
      return Future.succeededFuture(FetchFrame.of(record, failures, cached));
    }
    return new DiskReader(serve, group, shard, bytesMax, messagesMax)
        .read(offset)
        .map(
            found -> {
              if (consumer) {
                meters.fetched(found.batches(), startNanos, true);
              }
              return FetchFrame.filled(record, failures, found.batches(), found.frame());
            })
        .recover(
            failure ->
                !consumer && isLostToItsEnd(failure, record, offset)
                    ? Future.succeededFuture(FetchFrame.of(record, failures, List.of()))
                    : Future.failedFuture(failure));
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
  private static int batchBytesMax(FetchRequest request) {
    int asked = request.bytesMax();
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

  private Buffer waitedInVain(FetchRequest request) {
    meters.fetchedNothing();
    return nothing(request);
  }

  private Buffer nothing(FetchRequest request) {
    LogGroupServer group = serve.groupOf(request.shard());
    return FetchFrame.of(group.shard(request.shard()), failures(group, request), List.of());
  }

  private static int failures(LogGroupServer group, FetchRequest request) {
    LeaseKey key = new LeaseKey(request.shard(), request.group());
    return group.state().tables().failures(key).concerningOwner();
  }

  private Future<Buffer> await(FetchRequest request) {
    if (waitingCount >= serve.options().fetchesWaitingMax()) {
      throw OVERLOADED.error(waitingCount + " fetches wait already");
    }
    Promise<Buffer> promise = Promise.promise();
    Shard shard = request.shard();
    endFormer(request);
    Waiting[] self = new Waiting[1];
    long timer =
        serve
            .vertx()
            .setTimer(
                request.waitMillis(),
                id -> finish(self[0], () -> Future.succeededFuture(waitedInVain(request))));
    self[0] = new Waiting(request, promise, timer);
    waiting.computeIfAbsent(shard, any -> new LinkedHashSet<>()).add(self[0]);
    waitingCount++;
    // An entry applied between the look and the wait has been announced already, or will be.
    return promise.future();
  }

  /** An owner that asks again has given up its former fetch: nobody waits for that answer. */
  private void endFormer(FetchRequest request) {
    if (!request.group().isEmpty()) {
      answerNothing(request.shard(), request.group());
    }
  }

  private void answerNothing(Shard shard, String group) {
    for (Waiting each : waitingFor(shard)) {
      if (each.request().group().equals(group)) {
        finish(each, () -> Future.succeededFuture(nothing(each.request())));
      }
    }
  }

  /** A copy. */
  private List<Waiting> waitingFor(Shard shard) {
    return List.copyOf(waiting.getOrDefault(shard, Set.of()));
  }

  private void finish(Waiting each, Supplier<Future<Buffer>> serving) {
    Set<Waiting> of = waiting.get(each.request().shard());
    if (of == null || !of.remove(each)) {
      return;
    }
    if (of.isEmpty()) {
      waiting.remove(each.request().shard());
    }
    waitingCount--;
    serve.vertx().cancelTimer(each.timer());
    try {
      serving.get().onComplete(each.promise());
    } catch (RefusedException refused) {
      each.promise().fail(refused);
    }
  }

  /** Looks again at the fetches that wait for a shard. */
  void shardChanged(Shard shard) {
    waitingFor(shard).forEach(this::again);
  }

  /** Looks again at every waiting fetch of the shards wanted. */
  void changed(Predicate<Shard> wanted) {
    List<Shard> shards = new ArrayList<>(waiting.keySet());
    shards.stream().filter(wanted).forEach(this::shardChanged);
  }

  private void again(Waiting each) {
    try {
      Future<Buffer> answer = tryServe(each.request(), !each.request().group().isEmpty());
      if (answer != null) {
        finish(each, () -> answer);
      }
    } catch (RefusedException refused) {
      finish(each, () -> Future.failedFuture(refused));
    }
  }

  /** Answers waiting fetches of a group: the shard has retries that its owner did not add. */
  void retriesAdded(LeaseKey key) {
    answerNothing(key.shard(), key.group());
  }

  /** Fetches that wait now. */
  int waiting() {
    return waitingCount;
  }

  /** Answers all waiting fetches: this node stops. */
  void close() {
    RefusedException stopping = UNAVAILABLE.error("this node is stopping");
    for (Set<Waiting> of : List.copyOf(waiting.values())) {
      List.copyOf(of).forEach(each -> finish(each, () -> Future.failedFuture(stopping)));
    }
  }
}
