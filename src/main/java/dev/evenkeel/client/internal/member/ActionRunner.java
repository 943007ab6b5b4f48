package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.internal.consume.ConsumerAction;
import dev.evenkeel.client.internal.consume.ConsumerCore;
import dev.evenkeel.client.internal.consume.OwnedShard;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out the core's {@link ConsumerAction}s: requests to brokers, and calls of the handler.
 */
final class ActionRunner {
  private static final Logger LOG = LoggerFactory.getLogger(Consumer.class);

  /** The consumer around it; its text is its name in the log. */
  interface Surroundings {
    /** Runs {@code action} on the consumer's context: now if this is it. */
    void onContext(Runnable action);

    /** Does everything that can be done now. */
    void turn();

    void heartbeatNow();

    void heartbeatSoon();

    void ownedChanged(int owned);

    /** What the handler is told of it; null: this member does not lead. */
    LeaderContext leadChanged(Assignment.Lead lead);

    /** Ends the consumer, which lets go of its shards. */
    void stop(String text, Throwable cause);
  }

  /** A fetch that awaits its answer. */
  private static final class Flight {
    final ConsumerAction.Fetch fetch;

    /** The node that was asked last, or null. */
    String node;

    Flight(ConsumerAction.Fetch fetch) {
      this.fetch = fetch;
    }
  }

  /** At most one a shard, and until they are answered those whose hold is over. */
  private final Set<Flight> flights = new HashSet<>();

  private final ConsumerCore core;
  private final LogCalls calls;
  private final PublishCalls publishing;
  private final ConsumerHandler handler;
  private final Surroundings around;

  ActionRunner(
      ConsumerCore core,
      LogCalls calls,
      PublishCalls publishing,
      ConsumerHandler handler,
      Surroundings around) {
    this.core = core;
    this.calls = calls;
    this.publishing = publishing;
    this.handler = handler;
    this.around = around;
  }

  /** Begins to carry out {@code action}; its outcome comes to the core as an event. */
  void perform(ConsumerAction action) {
    if (action instanceof ConsumerAction.Fetch fetch) {
      fetch(fetch);
    } else if (action instanceof ConsumerAction.Commit commit) {
      calls
          .submit(commit.hold().shard, commit.command())
          .onComplete(
              answer ->
                  told(
                      answer.cause(),
                      now -> {
                        core.committed(commit.hold(), commit.command().offset());
                        callCommitted(commit.hold(), commit.command().offset());
                      },
                      (refused, now) -> core.commitFailed(commit.hold(), refused, now)));
    } else if (action instanceof ConsumerAction.ReadLease read) {
      calls
          .readLease(read.hold().shard)
          .onComplete(
              answer ->
                  told(
                      answer.cause(),
                      now -> core.leaseRead(read.hold(), answer.result(), now),
                      (refused, now) -> core.leaseFailed(read.hold(), refused, now)));
    } else if (action instanceof ConsumerAction.Release release) {
      calls
          .submit(release.hold().shard, release.command())
          .onComplete(
              answer ->
                  told(
                      answer.cause(),
                      now -> {
                        core.released(release.hold());
                        callCommitted(release.hold(), release.command().offset());
                      },
                      (refused, now) -> core.releaseFailed(release.hold(), refused, now)));
    } else if (action instanceof ConsumerAction.RecordOutcomes record) {
      calls
          .submit(record.hold().shard, record.command())
          .onComplete(
              answer ->
                  told(
                      answer.cause(),
                      now ->
                          core.recorded(
                              record.hold(), record.command(), offsets(answer.result()), now),
                      (refused, now) ->
                          core.recordFailed(record.hold(), record.command(), refused, now)));
    } else if (action instanceof ConsumerAction.FetchRetries fetch) {
      calls
          .fetchRetries(fetch.request())
          .onComplete(
              answer ->
                  told(
                      answer.cause(),
                      now ->
                          core.retriesFetched(fetch.hold(), fetch.request(), answer.result(), now),
                      (refused, now) ->
                          core.retriesFailed(fetch.hold(), fetch.request(), refused, now)));
    } else if (action instanceof ConsumerAction.OpenPublisher open) {
      publishing
          .open(open.shard(), open.epoch(), open.producerId())
          .onComplete(
              answer ->
                  told(
                      answer.cause(),
                      now ->
                          core.publisherOpened(
                              open.hold(), answer.result(), publishing.dataGroups(), now),
                      (refused, now) -> core.publisherFailed(open.hold(), refused, now)));
    } else if (action instanceof ConsumerAction.Publish publish) {
      publishing
          .publish(publish.request())
          .onComplete(
              answer ->
                  told(
                      answer.cause(),
                      now ->
                          core.published(publish.hold(), publish.request(), answer.result(), now),
                      (refused, now) ->
                          core.publishFailed(publish.hold(), publish.request(), refused, now)));
    } else if (action instanceof ConsumerAction.Stop stop) {
      around.stop(stop.text(), stop.cause());
    } else if (action instanceof ConsumerAction.CallAssign assign) {
      callAssign(assign);
    } else if (action instanceof ConsumerAction.CallDraining draining) {
      safely("onDraining", () -> handler.onDraining(draining.shard()));
    } else if (action instanceof ConsumerAction.CallKept kept) {
      safely("onKept", () -> handler.onKept(kept.shard()));
    } else if (action instanceof ConsumerAction.CallRelease release) {
      callRelease(release);
    } else if (action instanceof ConsumerAction.CallLost lost) {
      safely("onLost", () -> handler.onLost(lost.shard()));
    } else if (action instanceof ConsumerAction.LeadChanged changed) {
      LeaderContext leader = around.leadChanged(changed.lead());
      safely("onLeadership", () -> handler.onLeadership(leader));
    } else if (action instanceof ConsumerAction.HeartbeatNow) {
      around.heartbeatNow();
    } else if (action instanceof ConsumerAction.HeartbeatSoon) {
      around.heartbeatSoon();
    } else if (action instanceof ConsumerAction.OwnedChanged changed) {
      around.ownedChanged(changed.owned());
    } else if (action instanceof ConsumerAction.Report report) {
      report(report);
    }
  }

  private void fetch(ConsumerAction.Fetch fetch) {
    Flight flight = new Flight(fetch);
    flights.add(flight);
    calls
        .fetch(fetch.request(), node -> flight.node = node)
        .onComplete(
            answer ->
                around.onContext(
                    () -> {
                      flights.remove(flight);
                      told(
                          answer.cause(),
                          now -> core.fetched(fetch.hold(), fetch.request(), answer.result(), now),
                          (refused, now) ->
                              core.fetchFailed(fetch.hold(), fetch.request(), refused, now));
                    }));
  }

  /**
   * Gives up fetches that wait at a node that does not lead the shard any more. It may have died,
   * and then nobody would answer before the long poll's timeout.
   */
  void checkLeaders() {
    for (Flight flight : List.copyOf(flights)) {
      String leader = calls.leaderOf(flight.fetch.hold().shard);
      if (leader != null && flight.node != null && !leader.equals(flight.node)) {
        flights.remove(flight);
        core.fetchFailed(
            flight.fetch.hold(),
            flight.fetch.request(),
            new RefusedException(Refusal.INDETERMINATE, "the leader has changed"),
            Clock.millis());
      }
    }
  }

  private static List<Long> offsets(Reply reply) {
    return reply instanceof Reply.OfOffsets of ? of.offsets() : List.of();
  }

  private interface Succeeded {
    void at(long now);
  }

  private interface Refused {
    void at(RefusedException refused, long now);
  }

  /** Tells the core how a request ended. */
  private void told(Throwable failure, Succeeded succeeded, Refused refused) {
    around.onContext(
        () -> {
          if (failure == null) {
            succeeded.at(Clock.millis());
          } else {
            refused.at(RefusedException.of(failure), Clock.millis());
          }
          around.turn();
        });
  }

  private void callAssign(ConsumerAction.CallAssign assign) {
    Future<Void> done;
    try {
      Buffer state = assign.state() == null ? null : Buffer.buffer(assign.state());
      done = handler.onAssign(assign.shard(), state);
    } catch (Throwable e) {
      done = Future.failedFuture(e);
    }
    (done == null ? Future.<Void>succeededFuture() : done)
        .onComplete(
            ended ->
                around.onContext(
                    () -> {
                      core.assignDone(assign.hold(), ended.cause(), Clock.millis());
                      around.turn();
                    }));
  }

  private void callCommitted(OwnedShard hold, long offset) {
    safely("onCommitted", () -> handler.onCommitted(hold.topic, hold.shard.shard(), offset));
  }

  private void callRelease(ConsumerAction.CallRelease release) {
    Future<Buffer> given;
    try {
      given = handler.onRelease(release.shard());
    } catch (Throwable e) {
      given = Future.failedFuture(e);
    }
    (given == null ? Future.<Buffer>succeededFuture() : given)
        .onComplete(
            ended ->
                around.onContext(
                    () -> {
                      Buffer state = ended.result();
                      core.stateGiven(
                          release.hold(),
                          state == null ? null : state.getBytes(),
                          ended.cause(),
                          Clock.millis());
                      around.turn();
                    }));
  }

  /** Calls user code that must not break ours. */
  void safely(String what, Runnable call) {
    try {
      call.run();
    } catch (Throwable e) {
      LOG.error("{}: {} failed: {}", around, what, e.toString());
      LOG.debug("Where", e);
    }
  }

  private void report(ConsumerAction.Report report) {
    String cause = report.cause() == null ? "" : ": " + report.cause();
    switch (report.severity()) {
      case ERROR -> LOG.error("{}: {}{}", around, report.text(), cause);
      case WARN -> LOG.warn("{}: {}{}", around, report.text(), cause);
      case INFO -> LOG.info("{}: {}{}", around, report.text(), cause);
    }
    if (report.cause() != null) {
      LOG.debug("Where", report.cause());
    }
  }
}
