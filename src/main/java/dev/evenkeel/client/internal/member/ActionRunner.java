package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.internal.consume.ConsumerAction;
import dev.evenkeel.client.internal.consume.Ownership;
import dev.evenkeel.client.internal.consume.ShardEvents;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ObjLongConsumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Carries out the core's {@link ConsumerAction}s: requests to brokers, and calls of the handler.
 */
final class ActionRunner implements ConsumerAction.Performer {
  private static final Logger LOG = LoggerFactory.getLogger(Consumer.class);

  /** A fetch that awaits its answer. */
  private static final class PendingFetch {
    final ConsumerAction.Fetch fetch;

    /** The node that was asked last, or null. */
    String node;

    PendingFetch(ConsumerAction.Fetch fetch) {
      this.fetch = fetch;
    }
  }

  /** At most one a shard, and until they are answered those of shards that are gone. */
  private final Set<PendingFetch> fetches = new HashSet<>();

  private final LogCalls calls;
  private final PublishCalls publishing;
  private final ConsumerHandler handler;
  private final ConsumerShell consumer;

  ActionRunner(
      ConsumerShell consumer, LogCalls calls, PublishCalls publishing, ConsumerHandler handler) {
    this.consumer = consumer;
    this.calls = calls;
    this.publishing = publishing;
    this.handler = handler;
  }

  // Requests

  @Override
  public void fetch(ConsumerAction.Fetch action) {
    PendingFetch pending = new PendingFetch(action);
    fetches.add(pending);
    calls
        .fetch(action.request(), node -> pending.node = node)
        .onComplete(
            answer ->
                consumer.onEvent(
                    now -> {
                      fetches.remove(pending);
                      end(
                          answer,
                          (fetched, at) -> action.owned().fetched(action.request(), fetched, at),
                          (refused, at) ->
                              action.owned().fetchFailed(action.request(), refused, at),
                          now);
                    }));
  }

  /**
   * Gives up fetches that wait at a node that does not lead the shard any more. It may have died,
   * and then nobody would answer before the long poll's timeout.
   */
  void checkLeaders(long now) {
    for (PendingFetch pending : List.copyOf(fetches)) {
      String leader = calls.leaderOf(pending.fetch.request().shard());
      if (leader != null && pending.node != null && !leader.equals(pending.node)) {
        fetches.remove(pending);
        pending
            .fetch
            .owned()
            .fetchFailed(
                pending.fetch.request(),
                new RefusedException(Refusal.INDETERMINATE, "the leader has changed"),
                now);
      }
    }
  }

  @Override
  public void readLease(ConsumerAction.ReadLease action) {
    ShardEvents owned = action.owned();
    on(calls.readLease(owned.shard()), owned::leaseRead, owned::leaseFailed);
  }

  @Override
  public void commit(ConsumerAction.Commit action) {
    on(
        calls.submit(action.command().shard(), action.command()),
        (reply, now) -> {
          action.owned().committed(action.command().offset());
          callCommitted(action.owned(), action.command().offset());
        },
        action.owned()::commitFailed);
  }

  @Override
  public void release(ConsumerAction.Release action) {
    on(
        calls.submit(action.command().shard(), action.command()),
        (reply, now) -> {
          action.owned().released(now);
          callCommitted(action.owned(), action.command().offset());
        },
        action.owned()::releaseFailed);
  }

  @Override
  public void recordOutcomes(ConsumerAction.RecordOutcomes action) {
    on(
        calls.submit(action.command().shard(), action.command()),
        (reply, now) -> action.owned().recorded(action.command(), offsets(reply), now),
        (refused, now) -> action.owned().recordFailed(action.command(), refused, now));
  }

  @Override
  public void fetchRetries(ConsumerAction.FetchRetries action) {
    on(
        calls.fetchRetries(action.request()),
        (answer, now) -> action.owned().retriesFetched(action.request(), answer, now),
        (refused, now) -> action.owned().retriesFailed(action.request(), refused, now));
  }

  @Override
  public void openPublisher(ConsumerAction.OpenPublisher action) {
    Ownership of = action.owned().ownership();
    on(
        publishing.open(of.shard(), of.epoch(), action.producerId()),
        (id, now) -> action.owned().publisherOpened(id, publishing.dataGroups(), now),
        action.owned()::publisherFailed);
  }

  @Override
  public void publish(ConsumerAction.Publish action) {
    on(
        publishing.publish(action.request()),
        (results, now) -> action.owned().published(action.request(), results, now),
        (refused, now) -> action.owned().publishFailed(action.request(), refused, now));
  }

  private static List<Long> offsets(Reply reply) {
    return reply instanceof Reply.OfOffsets of ? of.offsets() : List.of();
  }

  /** Reports how a request ended, on the consumer's context. */
  private <T> void on(
      Future<T> request, ObjLongConsumer<T> succeeded, ObjLongConsumer<RefusedException> refused) {
    request.onComplete(answer -> consumer.onEvent(now -> end(answer, succeeded, refused, now)));
  }

  private static <T> void end(
      AsyncResult<T> answer,
      ObjLongConsumer<T> succeeded,
      ObjLongConsumer<RefusedException> refused,
      long now) {
    if (answer.succeeded()) {
      succeeded.accept(answer.result(), now);
    } else {
      refused.accept(RefusedException.of(answer.cause()), now);
    }
  }

  // Calls of the handler

  @Override
  public void callAssign(ConsumerAction.CallAssign action) {
    Buffer state = action.state() == null ? null : Buffer.buffer(action.state());
    onEnd(
        () -> handler.onAssign(action.shard(), state),
        (ended, now) -> action.owned().assignDone(ended.cause(), now));
  }

  @Override
  public void callRelease(ConsumerAction.CallRelease action) {
    onEnd(
        () -> handler.onRelease(action.shard()),
        (ended, now) -> {
          byte[] state = ended.result() == null ? null : ended.result().getBytes();
          action.owned().stateGiven(state, ended.cause(), now);
        });
  }

  /** Calls user code, which may throw or return null, and reports how it ended. */
  private <T> void onEnd(Supplier<Future<T>> userCode, ObjLongConsumer<AsyncResult<T>> ended) {
    Future<T> result;
    try {
      result = userCode.get();
    } catch (Throwable e) {
      result = Future.failedFuture(e);
    }
    (result == null ? Future.<T>succeededFuture() : result)
        .onComplete(outcome -> consumer.onEvent(now -> ended.accept(outcome, now)));
  }

  @Override
  public void callDraining(ConsumerAction.CallDraining action) {
    safely("onDraining", () -> handler.onDraining(action.shard()));
  }

  @Override
  public void callKept(ConsumerAction.CallKept action) {
    safely("onKept", () -> handler.onKept(action.shard()));
  }

  @Override
  public void callLost(ConsumerAction.CallLost action) {
    safely("onLost", () -> handler.onLost(action.shard()));
  }

  @Override
  public void leadChanged(ConsumerAction.LeadChanged action) {
    LeaderContext leader = consumer.leadChanged(action.lead());
    safely("onLeadership", () -> handler.onLeadership(leader));
  }

  private void callCommitted(ShardEvents owned, long offset) {
    Ownership of = owned.ownership();
    safely("onCommitted", () -> handler.onCommitted(of.topic(), of.shard().shard(), offset));
  }

  /** Calls user code that must not break ours. */
  void safely(String what, Runnable call) {
    try {
      call.run();
    } catch (Throwable e) {
      LOG.error("{}: {} failed: {}", consumer, what, e.toString());
      LOG.debug("Where", e);
    }
  }

  // The consumer around it

  @Override
  public void heartbeatNow(ConsumerAction.HeartbeatNow action) {
    consumer.heartbeatNow();
  }

  @Override
  public void heartbeatSoon(ConsumerAction.HeartbeatSoon action) {
    consumer.heartbeatSoon();
  }

  @Override
  public void ownedChanged(ConsumerAction.OwnedChanged action) {
    consumer.ownedChanged(action.owned());
  }

  @Override
  public void stop(ConsumerAction.Stop action) {
    consumer.stop(action.text(), action.cause());
  }

  @Override
  public void report(ConsumerAction.Report report) {
    String cause = report.cause() == null ? "" : ": " + report.cause();
    LOG.atLevel(
            switch (report.severity()) {
              case ERROR -> Level.ERROR;
              case WARN -> Level.WARN;
              case INFO -> Level.INFO;
            })
        .log("{}: {}{}", consumer, report.text(), cause);
    if (report.cause() != null) {
      LOG.debug("Where", report.cause());
    }
  }
}
