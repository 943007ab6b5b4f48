package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.FENCED;
import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.broker.node.BrokerOptions;
import dev.evenkeel.broker.node.HeapShares;
import dev.evenkeel.broker.quota.GroupDebts;
import dev.evenkeel.broker.state.FailureCounts;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.TailCache.Cached;
import dev.evenkeel.broker.state.TailRead;
import dev.evenkeel.bus.Asker;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchManyRequest;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.util.Daemon;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Answers fetches, and keeps those for which there are no messages yet. Runs on one context.
 *
 * <p>A waiting fetch is looked at again whenever its shard, its lease or the leadership changes,
 * with the same checks as when it came. One with a filter is looked at again when a message comes
 * that it may want, see {@link FilterWatch}.
 */
public final class FetchService {
  /** Looks at a time: each holds up to 1 MiB of batches. One reads while another one matches. */
  private static final int LOOKS_MAX = 2;

  private final ServeContext serve;
  private final RequestMetrics meters;

  /** Looks at the messages for filters: one thread, so that they leave the others to all else. */
  private final ThreadPoolExecutor scanner;

  private final LookQueue looks = new LookQueue(LOOKS_MAX);
  private final WaitingFetches waiting;
  private final GroupDebts debts;
  private final PauseGate pauses;

  FetchService(ServeContext serve, NodeQuotas quotas) {
    this.serve = serve;
    long set = serve.options().get(BrokerOptions.FETCHES_WAITING_BYTES_MAX);
    long bytesMax = set > 0 ? set : HeapShares.ofThisProgram().fetchBytes();
    FetchMemory memory =
        new FetchMemory(Shares.of(serve.vertx()).divide(Scarce.FETCH_BYTES, bytesMax));
    waiting = new WaitingFetches(serve, memory, shard -> new FilterWatch(serve, this, shard));
    debts = quotas.debts(waiting::paid);
    pauses = new PauseGate(serve, waiting::leaseChanged);
    meters = serve.meters();
    scanner =
        Daemon.pool(
            "evenkeel-filters-" + serve.node().nodeId(), 1, 10, new LinkedBlockingQueue<>());
  }

  /** Answers a FETCH request, perhaps later. */
  Future<Buffer> fetch(Buffer body, Asker asker) {
    FetchRequest request = decode(body, asker);
    if (request.group().isEmpty()) {
      throw INVALID.error("a fetch needs a group; to look around, browse");
    }
    meters.fetchRequests.increment();
    return new WaitingRequest(this, asker, List.of(request), true).begin();
  }

  /** Requests with equal filters get the same filter. */
  private FetchRequest decode(Buffer body, Asker asker) {
    return FetchRequest.decode(
        Frames.body(body), written -> waiting.memory().read(asker.user(), 1, written));
  }

  /** Answers a FETCH_MANY request, perhaps later. */
  Future<Buffer> fetchMany(Buffer body, Asker asker) {
    List<FetchRequest> fetches =
        FetchManyRequest.decode(
                Frames.body(body),
                (written, count) -> waiting.memory().read(asker.user(), count, written))
            .fetches();
    meters.fetchRequests.increment();
    return new WaitingRequest(this, asker, fetches, false).begin();
  }

  /**
   * Answers a BROWSE request, perhaps later. One that may wait comes from a consumer in mode
   * broadcast, which needs no lease, and counts as a fetch.
   */
  Future<Buffer> browse(Buffer body, Asker asker) {
    FetchRequest request = decode(body, asker).browse();
    if (request.waitMillis() > 0) {
      meters.fetchRequests.increment();
    }
    return new WaitingRequest(this, asker, List.of(request), true).begin();
  }

  /**
   * Where a fetch reads.
   *
   * @param failures {@link FetchAnswer#failures} of the answer
   */
  private record Place(LogGroupServer group, ShardRecord record, long offset, int failures) {
    boolean atEnd() {
      return offset == record.end();
    }

    /** Whether the owner must learn of retries now, not only when the next message arrives. */
    boolean hasNews(FetchRequest request) {
      return atEnd()
          && failures != request.failuresKnown()
          && request.failuresKnown() != FetchRequest.FAILURES_UNKNOWN;
    }
  }

  /**
   * Null: the fetch comes ahead of its lease.
   *
   * @throws RefusedException if the request cannot be served here or now
   */
  private Place placeOf(FetchRequest request) {
    boolean owner = !request.group().isEmpty();
    Shard shard = request.shard();
    LogGroupServer group = serve.groupOf(shard);
    group.requireReady();
    ShardRecord record = group.shard(shard);
    Lease lease = owner ? leaseOf(group, request) : null;
    if (owner && lease == null) {
      return null;
    }
    long offset = request.isAhead() ? lease.committed() : request.offset();
    if (offset < record.start() || offset > record.end()) {
      throw new RefusedException.OutOfRange(record.start(), record.end());
    }
    return new Place(group, record, offset, failures(group, request));
  }

  FetchFrame frames(FetchRequest request) {
    return request.placed()
        ? FetchFrame.placed(serve.numberOf(request.shard()))
        : FetchFrame.FORMER;
  }

  private static boolean isConsumer(FetchRequest request) {
    return !request.group().isEmpty() || request.waitMillis() > 0;
  }

  /**
   * The answer, or null if there is nothing yet.
   *
   * @param asker who fetches
   * @param alone whether the answer is sent as it is
   * @param bytes most bytes of the answer
   * @throws RefusedException if the request cannot be served here or now
   */
  Future<Buffer> tryServe(FetchRequest request, Asker asker, boolean alone, int bytes) {
    Place place = placeOf(request);
    if (place == null) {
      return null;
    }
    if (place.atEnd()) {
      return place.hasNews(request) ? noticeFor(request, 0) : null;
    }
    if (pauses.holds(request) || debts.holds(request.group(), request.shard())) {
      return null;
    }
    boolean consumer = isConsumer(request);
    ShardRecord record = place.record;
    long startNanos = System.nanoTime();
    int bytesMax = debts.bytesMax(request.group(), FetchFrame.batchBytesMax(bytes));
    int messagesMax = debts.messagesMax(request.group(), request.messagesMax());
    FetchFrame frames = frames(request);
    TailRead held =
        place
            .group
            .state()
            .tail()
            .read(request.shard(), place.offset, record.end(), bytesMax, messagesMax);
    if (!held.isEmpty()) {
      if (consumer) {
        meters.fetched(held.messages(), held.bytes(), startNanos, false);
      }
      delivered(request, held.messages(), held.bytes());
      return Future.succeededFuture(frames.of(record, place.failures, held));
    }
    debts.reading(request.group());
    boolean forSocket = !request.group().isEmpty() && alone;
    return new DiskReader(
            serve, place.group, asker, request.shard(), bytesMax, messagesMax, forSocket, frames)
        .read(place.offset)
        .map(
            found -> {
              if (consumer) {
                meters.fetched(found.messages(), found.bytes(), startNanos, true);
              }
              delivered(request, found.messages(), found.bytes());
              return frames.filled(record, place.failures, found.batches(), found.frame());
            })
        .onFailure(failure -> delivered(request, 0, 0))
        .recover(
            failure ->
                !consumer && isLostToItsEnd(failure, record, place.offset)
                    ? Future.succeededFuture(frames.nothing(record, place.failures, -1))
                    : Future.failedFuture(failure));
  }

  /** The group is to pay for these messages. */
  private void delivered(FetchRequest request, long messages, long bytes) {
    if (debts.counts(request.group())) {
      debts.delivered(request.group(), bytes, messages);
    }
  }

  /**
   * Looks for messages that the filter of a request takes, on another thread. It goes as far as
   * {@link LookBounds} allows.
   *
   * @param wanted whether anybody still waits for it; if not, the future may never complete
   * @return fails OFFSET_OUT_OF_RANGE if the first messages are lost, and with every refusal
   */
  Future<FilteredBatches.Found> filter(FetchRequest request, Asker asker, BooleanSupplier wanted) {
    return looks.run(asker, wanted, () -> filter(request, asker));
  }

  /** Looks into batches for several, at the first turn of any of them. */
  <T> Future<T> look(Collection<Asker> askers, Supplier<Future<T>> look) {
    return looks.run(askers, () -> true, look);
  }

  private Future<FilteredBatches.Found> filter(FetchRequest request, Asker asker) {
    Place place = placeOf(request);
    long end = place.record.end();
    return batches(place.group, asker, request.shard(), place.offset, end)
        .compose(
            found -> {
              if (found.isEmpty() || found.get(0).baseOffset() > place.offset) {
                // The client must not take it for messages that nobody wants.
                long first = found.isEmpty() ? end : found.get(0).baseOffset();
                throw new RefusedException.OutOfRange(first, end);
              }
              String group = request.group();
              FetchRequest bound =
                  request.within(
                      debts.bytesMax(group, request.bytesMax()),
                      debts.messagesMax(group, request.messagesMax()));
              return onScanner(() -> FilteredBatches.of(found, frames(request), bound));
            });
  }

  /**
   * Whether the group of a fetch with a filter is paused, or in debt. If so, it looks again as soon
   * as that is over.
   *
   * @throws RefusedException if the request cannot be served here or now
   */
  boolean mustWait(WaitingFetch waits, FetchRequest fetch) {
    placeOf(fetch);
    if (pauses.holds(fetch)) {
      return true;
    }
    boolean holds = debts.holds(fetch.group(), fetch.shard());
    if (holds) {
      waiting.addInDebt(waits);
    }
    return holds;
  }

  /** Runs a task on the thread that looks at messages for filters. */
  <T> Future<T> onScanner(Callable<T> task) {
    return Answers.on(serve.vertx(), scanner, task);
  }

  /**
   * Batches for a look, from the one that holds an offset on, from memory or from the disk; none if
   * all are lost.
   *
   * @param end those behind it do not count; it is the end of a batch, and above the offset
   */
  Future<List<Cached>> batches(
      LogGroupServer group, Asker asker, Shard shard, long offset, long end) {
    TailRead held = group.state().tail().look(shard, offset, end);
    return held.isEmpty()
        ? DiskReader.looking(serve, group, asker, shard)
            .read(offset)
            .map(found -> found.batches().stream().filter(each -> each.endOffset() <= end).toList())
        : Future.succeededFuture(held.batches());
  }

  /**
   * The answer with messages that a filter has let through.
   *
   * @param over how many messages it has passed over
   * @throws RefusedException if the shard is not served here any more
   */
  Buffer filtered(FetchRequest request, FilteredBatches.Found found, long over) {
    Place place = placeOf(request.from(found.next()));
    meters.filtered(found.messages(), found.bytes(), over);
    delivered(request, found.messages(), found.bytes());
    return frames(request).filled(place.record, place.failures, found.next(), found.frame());
  }

  /**
   * An answer without messages, if the owner must learn of something else now; else null.
   *
   * @param over how many messages the filter of the request has passed over
   */
  Future<Buffer> noticeFor(FetchRequest request, long over) {
    Place place = placeOf(request);
    if (place == null || !place.hasNews(request)) {
      return null;
    }
    meters.fetchEmpty.increment();
    return nothing(request, over);
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

  /**
   * How the shard is.
   *
   * @param over how many messages the filter of the request has passed over
   */
  Future<Buffer> nothing(FetchRequest request, long over) {
    LogGroupServer group = serve.groupOf(request.shard());
    meters.filtered(0, 0, over);
    try {
      return Future.succeededFuture(
          frames(request)
              .nothing(
                  group.shard(request.shard()),
                  failures(group, request),
                  over > 0 ? request.offset() : -1));
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

  // Requests that wait

  RequestMetrics meters() {
    return meters;
  }

  Vertx vertx() {
    return serve.vertx();
  }

  void later(Runnable task) {
    serve.run(task);
  }

  WaitingFetches waiting() {
    return waiting;
  }

  PauseGate pauses() {
    return pauses;
  }

  /**
   * Lets a fetch with a filter wait together with others. Returns whether: else it must look for
   * itself first.
   *
   * @throws RefusedException if the request cannot be served here or now
   */
  boolean watch(FilterWatch.Member member) {
    Place place = placeOf(member.wanted);
    // One that does not wait would be over before the next look of the others.
    boolean joins = place != null && (place.atEnd() || member.wanted.waitMillis() > 0);
    return joins && waiting.watch(member, place.record.end(), place.atEnd());
  }

  /** Answers all waiting fetches: this node stops. */
  void close() {
    waiting.refuse(UNAVAILABLE.error("this node is stopping"));
    scanner.shutdown();
  }
}
