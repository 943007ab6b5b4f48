package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.ParentState;
import dev.evenkeel.client.internal.consume.Answer;
import dev.evenkeel.client.internal.consume.ConsumerAction;
import dev.evenkeel.client.internal.consume.ConsumerAction.Request;
import dev.evenkeel.client.internal.consume.ConsumerAction.ShardRequest;
import dev.evenkeel.client.internal.consume.ConsumerCore;
import dev.evenkeel.client.internal.consume.CountsDeaths;
import dev.evenkeel.client.internal.consume.HoldsMessages;
import dev.evenkeel.client.internal.consume.Ownership;
import dev.evenkeel.client.internal.consume.Task;
import dev.evenkeel.client.internal.tracing.HandlerSpans;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out the {@link ConsumerAction}s of the core: sends requests to brokers, and calls the
 * handler and the other code of the application.
 */
final class ActionRunner {
  private static final Logger LOG = LoggerFactory.getLogger(dev.evenkeel.client.Consumer.class);

  /** The consumer around it. */
  interface Port extends MemberPort {
    /** A message that was to begin with care goes back to where it came from. */
    void giveBack(Task task);

    /** As {@link #heartbeatNow}, but it can wait a moment. */
    void heartbeatSoon();

    /** The member gained or lost shards: it owns so many now. */
    void ownedChanged(int owned);
  }

  /** One that waits for messages, or for its answer. */
  private static final class PendingFetch {
    final ConsumerAction.Fetch fetch;

    /** The node that it was sent to last; null: none yet. */
    final AtomicReference<String> node = new AtomicReference<>();

    private ClusterView checked;
    private String checkedNode;

    PendingFetch(ConsumerAction.Fetch fetch) {
      this.fetch = fetch;
    }

    /** Whether the leader may be another one than when this was asked last. */
    boolean checksAgain(ClusterView view) {
      String now = node.get();
      boolean again = view != checked || !Objects.equals(now, checkedNode);
      checked = view;
      checkedNode = now;
      return again;
    }
  }

  /** At most one a shard, and those of shards that are gone until they are answered. */
  private final Set<PendingFetch> fetches = new HashSet<>();

  private final MemberRun run;
  private final Port consumer;
  private final ConsumerCore core;
  private final ConsumerHandler handler;

  /** Null: no message has a span. */
  private final HandlerSpans spans;

  private final Leaderships leaderships;
  private final LogCalls calls;
  private final FetchesAhead ahead;
  private final PublishCalls publishing;
  private Handler<Throwable> endHandler;
  private Handler<Integer> assignmentHandler;

  /** Why the consumer has ended against its will, or null. */
  private Throwable endCause;

  /**
   * @param spans null: no message has a span
   */
  ActionRunner(
      MemberRun run,
      Port consumer,
      ConsumerCore core,
      HandlerSpans spans,
      Leaderships leaderships,
      LogCalls calls,
      PublishCalls publishing) {
    this.run = run;
    this.consumer = consumer;
    this.core = core;
    handler = run.handler();
    this.spans = spans;
    this.leaderships = leaderships;
    this.calls = calls;
    ahead = new FetchesAhead(calls, run.options().getGroup());
    this.publishing = publishing;
  }

  // Requests

  /** An assignment has come: it names shards that will be fetched soon. */
  void assigned(Assignment assignment) {
    ahead.assigned(assignment);
  }

  /** Carries out an action, and reports its outcome, on the consumer's context. */
  void run(ConsumerAction action) {
    if (action instanceof ConsumerAction.Fetch fetch) {
      fetch(fetch);
    } else if (action instanceof ConsumerAction.ReadLease read) {
      on(read, calls.readLease(read.owned().shard()));
    } else if (action instanceof ConsumerAction.ReadParents read) {
      for (int parent : read.parents()) {
        on(read, calls.readParentLease(new Shard(read.owned().shard().topicId(), parent)));
      }
    } else if (action instanceof ConsumerAction.Commit commit) {
      submit(commit, commit.command(), commit.command().offset());
    } else if (action instanceof ConsumerAction.CommitPositions batch) {
      commit(batch);
    } else if (action instanceof ConsumerAction.RecordOutcomes record) {
      record(record);
    } else if (action instanceof ConsumerAction.FetchRetries fetch) {
      on(fetch, calls.fetchRetries(fetch.request()));
    } else if (action instanceof ConsumerAction.OpenPublisher open) {
      on(open, publishing.open(open.owned().shard(), open.owned().epoch(), open.producerId()));
    } else if (action instanceof ConsumerAction.Publish publish) {
      on(publish, publishing.publish(publish.request()));
    } else if (action instanceof ConsumerAction.Release release) {
      submit(release, release.command(), release.command().offset());
    } else if (action instanceof ConsumerAction.CallAssign assign) {
      on(assign, called(() -> callAssign(assign)));
    } else if (action instanceof ConsumerAction.CallRelease release) {
      on(release, called(() -> handler.onRelease(release.shard())).map(ActionRunner::bytes));
    } else if (action instanceof ConsumerAction.CallDraining call) {
      run.safely("onDraining", () -> handler.onDraining(call.shard()));
    } else if (action instanceof ConsumerAction.CallKept call) {
      run.safely("onKept", () -> handler.onKept(call.shard()));
    } else if (action instanceof ConsumerAction.CallPaused call) {
      if (handler instanceof HoldsMessages holder) {
        run.safely("a pause", () -> holder.paused(call.shard(), call.on()));
      }
    } else if (action instanceof ConsumerAction.CallLost call) {
      run.safely("onLost", () -> handler.onLost(call.shard()));
    } else if (action instanceof ConsumerAction.LeadChanged changed) {
      LeaderContext leader = leaderships.changed(changed.lead());
      run.safely("onLeadership", () -> handler.onLeadership(leader));
    } else if (action instanceof ConsumerAction.GiveBack back) {
      consumer.giveBack(back.task());
    } else if (action instanceof ConsumerAction.HeartbeatNow) {
      consumer.heartbeatNow();
    } else if (action instanceof ConsumerAction.HeartbeatSoon) {
      consumer.heartbeatSoon();
    } else if (action instanceof ConsumerAction.OwnedChanged changed) {
      consumer.ownedChanged(changed.count());
      callAssignment(changed.count());
    } else if (action instanceof ConsumerAction.Stop stop) {
      consumer.stop(stop.text(), stop.cause());
    } else if (action instanceof ConsumerAction.Report report) {
      report(report);
    } else {
      throw new AssertionError(action);
    }
  }

  private void fetch(ConsumerAction.Fetch fetch) {
    FetchRequest request = fetch.request();
    PendingFetch pending = new PendingFetch(fetch);
    fetches.add(pending);
    Future<FetchAnswer> early = ahead.take(request, pending.node::set);
    Future<FetchAnswer> answer =
        early == null ? calls.fetch(request, fetch.quiet(), pending.node::set) : early;
    Ownership of = fetch.owned().ownership();
    Future<FetchAnswer> traced =
        spans == null ? answer : spans.fetching(of.topic(), of.shard().shard(), answer);
    traced.onComplete(
        done ->
            consumer.onEvent(
                now -> {
                  fetches.remove(pending);
                  core.answered(fetch, new Answer<>(done.result(), done.cause()), now);
                }));
  }

  /**
   * Gives up fetches that wait at a node that no longer leads the shard. The node may be dead, and
   * then nobody would answer before the timeout of the long poll.
   */
  void checkLeaders(long now) {
    ClusterView view = run.directory().current();
    // Often there are many, and nearly always nothing has changed.
    List<PendingFetch> doubtful = new ArrayList<>(0);
    for (PendingFetch pending : fetches) {
      if (pending.checksAgain(view)) {
        doubtful.add(pending);
      }
    }
    for (PendingFetch pending : doubtful) {
      String node = pending.node.get();
      String leader = calls.leaderOf(pending.fetch.request().shard());
      if (leader != null && node != null && !leader.equals(node)) {
        fetches.remove(pending);
        RefusedException changed =
            new RefusedException(Refusal.INDETERMINATE, "the leader has changed");
        core.answered(pending.fetch, Answer.failed(changed), now);
      }
    }
  }

  /**
   * @param offset up to which the log has the progress then
   */
  private void submit(ShardRequest<Reply> request, DataCommand command, long offset) {
    on(
        request,
        calls.submit(request.owned().shard(), command),
        reply -> callCommitted(request.owned().ownership(), offset));
  }

  private void commit(ConsumerAction.CommitPositions batch) {
    on(
        batch,
        calls.submit(batch.dataGroup(), batch.command()),
        reply -> {
          Set<Integer> refused = ConsumerAction.CommitPositions.refused(reply).keySet();
          for (int i = 0; i < batch.shards().size(); i++) {
            if (!refused.contains(i)) {
              callCommitted(batch.shards().get(i), batch.positions().get(i).offset());
            }
          }
        });
  }

  private void record(ConsumerAction.RecordOutcomes record) {
    Shard shard = record.owned().shard();
    Future<Reply> recorded = calls.submit(shard, record.command());
    if (spans != null) {
      String topic = record.owned().ownership().topic();
      spans.recording(topic, shard.shard(), record.command().outcomes(), recorded);
    }
    on(record, recorded);
  }

  /** Reports the outcome of a request, on the consumer's context. */
  private <R> void on(Request<R> request, Future<R> result) {
    on(request, result, value -> {});
  }

  /**
   * @param then gets the answer, after the core
   */
  private <R> void on(Request<R> request, Future<R> result, Consumer<R> then) {
    result.onComplete(
        done ->
            consumer.onEvent(
                now -> {
                  core.answered(request, new Answer<>(done.result(), done.cause()), now);
                  if (done.succeeded()) {
                    then.accept(done.result());
                  }
                }));
  }

  // Calls of the handler

  private Future<Void> callAssign(ConsumerAction.CallAssign call) {
    if (handler instanceof CountsDeaths counting) {
      counting.diedBefore(call.shard(), call.owned().shard(), call.crashes());
    }
    Buffer given = call.state() == null ? null : Buffer.buffer(call.state());
    List<ParentState> states =
        call.parents().stream()
            .map(each -> new ParentState(each.shard(), Buffer.buffer(each.state()), each.heir()))
            .toList();
    return states.isEmpty()
        ? handler.onAssign(call.shard(), given)
        : handler.onAssignFromParents(call.shard(), states);
  }

  private static byte[] bytes(Buffer state) {
    return state == null ? null : state.getBytes();
  }

  /** Calls user code, which may throw or return null. */
  private static <T> Future<T> called(Supplier<Future<T>> userCode) {
    try {
      Future<T> result = userCode.get();
      return result == null ? Future.succeededFuture() : result;
    } catch (Throwable e) {
      return Future.failedFuture(e);
    }
  }

  private void callCommitted(Ownership of, long offset) {
    run.safely("onCommitted", () -> handler.onCommitted(of.topic(), of.shard().shard(), offset));
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
      run.safely("the end handler", () -> to.handle(cause));
    }
  }

  /** Sets the handler of assignments. It is called now if the consumer owns shards. */
  void onAssignment(Handler<Integer> newHandler) {
    assignmentHandler = newHandler;
    if (core.owned() > 0) {
      callAssignment(core.owned());
    }
  }

  private void callAssignment(int owned) {
    Handler<Integer> to = assignmentHandler;
    if (to != null) {
      run.safely("the assignment handler", () -> to.handle(owned));
    }
  }

  private void report(ConsumerAction.Report line) {
    Throwable cause = line.cause();
    LOG.atLevel(line.level()).log("{}: {}{}", run, line.text(), cause == null ? "" : ": " + cause);
    if (cause != null) {
      LOG.debug("Where", cause);
    }
  }
}
