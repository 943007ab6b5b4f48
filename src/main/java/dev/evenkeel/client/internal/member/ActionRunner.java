package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.ParentState;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.client.internal.consume.CommitBatch;
import dev.evenkeel.client.internal.consume.ConsumerAction;
import dev.evenkeel.client.internal.consume.ConsumerAction.Performer;
import dev.evenkeel.client.internal.consume.CountsDeaths;
import dev.evenkeel.client.internal.consume.HoldsMessages;
import dev.evenkeel.client.internal.consume.OwnedShard;
import dev.evenkeel.client.internal.consume.Ownership;
import dev.evenkeel.client.internal.consume.PublishRequest;
import dev.evenkeel.client.internal.consume.Task;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.RetryRequest;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.ObjLongConsumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Carries out the {@link ConsumerAction}s of the core: sends requests to brokers, and calls the
 * handler and the other code of the application.
 */
final class ActionRunner implements Performer {
  private static final Logger LOG = LoggerFactory.getLogger(Consumer.class);

  /**
   * A fetch that awaits its answer.
   *
   * @param node the node that got the request last, or null
   */
  private record PendingFetch(
      OwnedShard owned, FetchRequest request, AtomicReference<String> node) {}

  /** At most one a shard, and those of shards that are gone until they are answered. */
  private final Set<PendingFetch> fetches = new HashSet<>();

  private final ConsumerShell consumer;
  private final ConsumerHandler handler;
  private final LogCalls calls;
  private final FetchesAhead ahead;
  private final PublishCalls publishing;
  private Handler<Throwable> endHandler;
  private Handler<Integer> assignmentHandler;

  /** Why the consumer has ended against its will, or null. */
  private Throwable endCause;

  ActionRunner(ConsumerShell consumer, LogCalls calls, PublishCalls publishing) {
    this.consumer = consumer;
    handler = consumer.handler;
    this.calls = calls;
    ahead = new FetchesAhead(calls, consumer.options.getGroup());
    this.publishing = publishing;
  }

  // Requests

  /** An assignment has come: it names shards that will be fetched soon. */
  void assigned(Assignment assignment) {
    ahead.assigned(assignment);
  }

  @Override
  public void fetch(OwnedShard owned, FetchRequest request) {
    PendingFetch pending = new PendingFetch(owned, request, new AtomicReference<>());
    fetches.add(pending);
    Future<FetchAnswer> early = ahead.take(request, pending.node::set);
    Future<FetchAnswer> fetch =
        early == null ? calls.fetch(request, owned.isQuiet(), pending.node::set) : early;
    on(
        consumer.spans == null
            ? fetch
            : consumer.spans.fetching(owned.ownership().topic(), request.shard().shard(), fetch),
        (answer, now) -> {
          fetches.remove(pending);
          owned.fetched(request, answer, now);
        },
        (refused, now) -> {
          fetches.remove(pending);
          owned.fetchFailed(request, refused, now);
        });
  }

  /**
   * Gives up fetches that wait at a node that no longer leads the shard. The node may be dead, and
   * then nobody would answer before the timeout of the long poll.
   */
  void checkLeaders(long now) {
    for (PendingFetch pending : List.copyOf(fetches)) {
      String node = pending.node.get();
      String leader = calls.leaderOf(pending.request.shard());
      if (leader != null && node != null && !leader.equals(node)) {
        fetches.remove(pending);
        RefusedException changed =
            new RefusedException(Refusal.INDETERMINATE, "the leader has changed");
        pending.owned.fetchFailed(pending.request, changed, now);
      }
    }
  }

  @Override
  public void readLease(OwnedShard owned) {
    on(calls.readLease(owned.shard()), owned.takeover::leaseRead, owned.takeover::leaseFailed);
  }

  @Override
  public void readParents(OwnedShard owned, List<Integer> parents) {
    for (int parent : parents) {
      on(
          calls.readParentLease(new Shard(owned.shard().topicId(), parent)),
          owned.takeover::parentRead,
          owned.takeover::parentFailed);
    }
  }

  @Override
  public void commit(OwnedShard owned, DataCommand.Commit command) {
    on(
        calls.submit(command.shard(), command),
        (reply, now) -> {
          owned.committed(command.offset());
          callCommitted(owned, command.offset());
        },
        owned::commitFailed);
  }

  @Override
  public void commitPositions(CommitBatch batch) {
    on(
        calls.submit(batch.dataGroup(), batch.command()),
        (reply, now) ->
            batch.answered(reply, now).forEach(each -> callCommitted(each.owned(), each.offset())),
        batch::failed);
  }

  @Override
  public void release(OwnedShard owned, DataCommand.Release command) {
    on(
        calls.submit(command.shard(), command),
        (reply, now) -> {
          owned.release.released(now);
          callCommitted(owned, command.offset());
        },
        owned.release::releaseFailed);
  }

  @Override
  public void recordOutcomes(OwnedShard owned, DataCommand.RecordOutcomes command) {
    Future<Reply> recorded = calls.submit(command.shard(), command);
    if (consumer.spans != null) {
      String topic = owned.ownership().topic();
      consumer.spans.recording(topic, command.shard().shard(), command.outcomes(), recorded);
    }
    on(
        recorded,
        (reply, now) -> owned.recorded(command, offsets(reply), now),
        (refused, now) -> owned.recordFailed(command, refused, now));
  }

  @Override
  public void giveBack(Task task) {
    consumer.giveBack(task);
  }

  @Override
  public void fetchRetries(OwnedShard owned, RetryRequest request) {
    on(
        calls.fetchRetries(request),
        (answer, now) -> owned.retriesFetched(request, answer, now),
        (refused, now) -> owned.retriesFailed(request, refused, now));
  }

  @Override
  public void openPublisher(OwnedShard owned, long producerId) {
    on(
        publishing.open(owned.shard(), owned.ownership().epoch(), producerId),
        (opened, now) ->
            owned.takeover.publisherOpened(
                opened.producerId(), publishing::group, opened.last(), now),
        owned.takeover::publisherFailed);
  }

  @Override
  public void publish(OwnedShard owned, PublishRequest request) {
    on(
        publishing.publish(request),
        (results, now) -> owned.outputs.published(request, results, now),
        (refused, now) -> owned.outputs.publishFailed(request, refused, now));
  }

  private static List<Long> offsets(Reply reply) {
    return reply instanceof Reply.OfOffsets of ? of.offsets() : List.of();
  }

  /** Reports the outcome of a request, on the consumer's context. */
  private <T> void on(
      Future<T> request, ObjLongConsumer<T> succeeded, ObjLongConsumer<RefusedException> refused) {
    request.onComplete(
        answer ->
            consumer.onEvent(
                now -> {
                  if (answer.succeeded()) {
                    succeeded.accept(answer.result(), now);
                  } else {
                    refused.accept(RefusedException.of(answer.cause()), now);
                  }
                }));
  }

  // Calls of the handler

  @Override
  public void callAssign(
      OwnedShard owned, ShardContext shard, byte[] state, List<ConsumerAction.Parent> parents) {
    Buffer given = state == null ? null : Buffer.buffer(state);
    List<ParentState> states =
        parents.stream()
            .map(each -> new ParentState(each.shard(), Buffer.buffer(each.state()), each.heir()))
            .toList();
    call(
        () -> {
          if (handler instanceof CountsDeaths counting) {
            counting.diedBefore(shard, owned.shard(), owned.crashes());
          }
          return states.isEmpty()
              ? handler.onAssign(shard, given)
              : handler.onAssignFromParents(shard, states);
        },
        (ended, now) -> owned.takeover.assignDone(ended.cause(), now));
  }

  @Override
  public void callRelease(OwnedShard owned, ShardContext shard) {
    call(
        () -> handler.onRelease(shard),
        (ended, now) -> {
          byte[] state = ended.result() == null ? null : ended.result().getBytes();
          owned.release.stateGiven(state, ended.cause(), now);
        });
  }

  /** Calls user code, which may throw or return null, and reports the outcome. */
  private <T> void call(Supplier<Future<T>> userCode, ObjLongConsumer<AsyncResult<T>> ended) {
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
  public void callDraining(ShardContext shard) {
    safely("onDraining", () -> handler.onDraining(shard));
  }

  @Override
  public void callKept(ShardContext shard) {
    safely("onKept", () -> handler.onKept(shard));
  }

  @Override
  public void callPaused(ShardContext shard, boolean on) {
    if (handler instanceof HoldsMessages holder) {
      safely("a pause", () -> holder.paused(shard, on));
    }
  }

  @Override
  public void callLost(ShardContext shard) {
    safely("onLost", () -> handler.onLost(shard));
  }

  @Override
  public void leadChanged(Assignment.Lead lead) {
    LeaderContext leader = consumer.leaderships.changed(lead);
    safely("onLeadership", () -> handler.onLeadership(leader));
  }

  private void callCommitted(OwnedShard owned, long offset) {
    Ownership of = owned.ownership();
    safely("onCommitted", () -> handler.onCommitted(of.topic(), of.shard().shard(), offset));
  }

  /**
   * Sets the handler of the consumer's end. If the consumer has ended, the handler is called now.
   */
  void onEnd(Handler<Throwable> newHandler) {
    endHandler = newHandler;
    callEnd();
  }

  /** Calls the end handler: the consumer has ended against its will. */
  void ended(Throwable cause) {
    endCause = cause;
    callEnd();
  }

  private void callEnd() {
    Handler<Throwable> to = endHandler;
    Throwable cause = endCause;
    if (to != null && cause != null) {
      safely("the end handler", () -> to.handle(cause));
    }
  }

  /** Sets the handler of assignments. It is called now if the consumer owns shards. */
  void onAssignment(Handler<Integer> newHandler) {
    assignmentHandler = newHandler;
    if (consumer.core.owned() > 0) {
      callAssignment(consumer.core.owned());
    }
  }

  private void callAssignment(int owned) {
    Handler<Integer> to = assignmentHandler;
    if (to != null) {
      safely("the assignment handler", () -> to.handle(owned));
    }
  }

  /** Calls user code, and logs what it throws. */
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
  public void heartbeatNow() {
    consumer.heartbeatNow();
  }

  @Override
  public void heartbeatSoon() {
    consumer.heartbeats.soon();
  }

  @Override
  public void ownedChanged(int owned) {
    consumer.ownedChanged(owned);
    callAssignment(owned);
  }

  @Override
  public void stop(String text, Throwable cause) {
    consumer.stop(text, cause);
  }

  @Override
  public void report(Level level, String text, Throwable cause) {
    LOG.atLevel(level).log("{}: {}{}", consumer, text, cause == null ? "" : ": " + cause);
    if (cause != null) {
      LOG.debug("Where", cause);
    }
  }
}
