package dev.evenkeel.client.internal.produce;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.EventLoops;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ReplicasAnswer;
import dev.evenkeel.bus.ReplicasRequest;
import dev.evenkeel.client.Acks;
import dev.evenkeel.client.Producer.Position;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.internal.produce.core.BatchResult;
import dev.evenkeel.client.internal.produce.core.Flush;
import dev.evenkeel.client.internal.produce.core.OutBatch;
import dev.evenkeel.client.internal.produce.core.ReplicaWaits;
import dev.evenkeel.protocol.LogPosition;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Acknowledges messages to their senders, see {@link Acks}: when their batch is sent, when the log
 * has it, or when every replica has it, for which it asks the leaders. To be used on the producer's
 * context.
 */
public final class AckGate {
  /** What an answer may take beyond the time that the leader waits. */
  private static final long REQUEST_SLACK_MILLIS = 1_000;

  private final Acks acks;
  private final long timeoutMillis;
  private final LeaderClient leaders;
  private final ClusterDirectory directory;
  private final ContextInternal context;
  private final Runnable changed;
  private final ReplicaWaits<BatchResult<Promise<Position>>> waits;

  /**
   * Batches that are in the log, and perhaps not on every replica. Guarded by the producer's lock.
   */
  private final Set<OutBatch<Promise<Position>>> held = new LinkedHashSet<>();

  private volatile long failedMessages;

  /**
   * @param changed called when {@link #pass} may have something new
   */
  AckGate(ProducerOptions options, Link link, ClusterDirectory directory, Runnable changed) {
    acks = options.getAcks();
    timeoutMillis = options.getAcksTimeoutMillis();
    leaders = new LeaderClient(link, directory);
    this.directory = directory;
    this.changed = changed;
    context = EventLoops.ownOf(link.vertx());
    waits = new ReplicaWaits<>(timeoutMillis);
  }

  /**
   * @throws RefusedException INVALID
   */
  public static void check(ProducerOptions options) {
    if (options.getAcks() != Acks.MAJORITY && !options.getSpool().isEmpty()) {
      throw new RefusedException(
          Refusal.INVALID,
          "acks "
              + options.getAcks().text()
              + " with a spool: what leaves a spool must be known to be in the log, and a spool"
              + " waits for nothing more; use majority");
    }
  }

  long failedMessages() {
    return failedMessages;
  }

  /** These batches were sent, some of them perhaps again. */
  void sent(List<OutBatch<Promise<Position>>> batches) {
    if (acks == Acks.NONE) {
      for (OutBatch<Promise<Position>> batch : batches) {
        Position position = new Position(batch.shard.shard(), Result.OFFSET_FORGOTTEN);
        for (Promise<Position> promise : batch.tokens) {
          try {
            promise.tryComplete(position);
          } catch (Throwable e) {
            context.reportException(e);
          }
        }
      }
    }
  }

  /** Takes results of batches, and returns those that senders are to learn now. */
  List<BatchResult<Promise<Position>>> pass(
      List<BatchResult<Promise<Position>>> outcomes, long nowMillis) {
    if (acks != Acks.ALL) {
      return outcomes;
    }
    List<BatchResult<Promise<Position>>> passed = new ArrayList<>();
    for (BatchResult<Promise<Position>> outcome : outcomes) {
      if (outcome.refused() != null) {
        passed.add(outcome);
      } else {
        int group = directory.shardGroups().of(outcome.batch().shard);
        waits.add(outcome, group, outcome.batch().logIndex, nowMillis);
        held.add(outcome.batch());
      }
    }
    waits.poll(nowMillis).forEach(this::ask);
    for (ReplicaWaits.Done<BatchResult<Promise<Position>>> done : waits.takeDone()) {
      held.remove(done.thing().batch());
      passed.add(done.onAll() ? done.thing() : done.thing().lacking(done.missing()));
    }
    return passed;
  }

  /** Has {@code flush} wait for batches that are in the log and whose senders still wait. */
  void flush(Flush flush) {
    held.forEach(batch -> batch.awaitedBy(flush));
  }

  private void ask(ReplicaWaits.Question question) {
    ReplicasRequest request =
        new ReplicasRequest(question.group(), question.index(), question.waitMillis());
    leaders
        .request(
            question.group(),
            Addresses::data,
            Frames.request(Op.AWAIT_REPLICAS, request.encode()),
            question.waitMillis() + REQUEST_SLACK_MILLIS,
            LeaderClient.Retry.NONE)
        .map(answer -> ReplicasAnswer.decode(new ByteReader(answer)))
        .onComplete(
            answered ->
                context.runOnContext(
                    none -> {
                      if (answered.succeeded()) {
                        ReplicasAnswer answer = answered.result();
                        waits.answered(
                            question,
                            answer.everywhere(),
                            answer.missing(),
                            MonotonicClock.millis());
                      } else {
                        waits.failed(question, MonotonicClock.millis());
                      }
                      changed.run();
                    }));
  }

  /** When to call {@link #pass} next even if nothing happens. */
  long wakeAtMillis(long nowMillis) {
    return waits.wakeAtMillis(nowMillis);
  }

  private static RefusedException failure(BatchResult<Promise<Position>> outcome, int place) {
    RefusedException refused = outcome.refused();
    OutBatch<Promise<Position>> batch = outcome.batch();
    return refused.refusal() == Refusal.INDETERMINATE && batch.firstSequence() >= 0
        ? new RefusedException.GivenUp(
            outcome.shard(), batch.epoch(), batch.firstSequence() + place, refused.getMessage())
        : refused;
  }

  /**
   * Passes the result of a batch on to its senders.
   *
   * @return the failure, if the batch failed after its messages had been acknowledged as sent
   */
  RefusedException report(BatchResult<Promise<Position>> outcome) {
    List<Promise<Position>> promises = outcome.tokens();
    LogPosition log = null;
    if (outcome.refused() == null && outcome.batch().knowsItsEntry()) {
      int group = directory.shardGroups().of(outcome.batch().shard);
      log = new LogPosition(group, outcome.batch().logIndex);
    }
    int completed = 0;
    for (int i = 0; i < promises.size(); i++) {
      try {
        completed += report(promises.get(i), outcome, i, log) ? 1 : 0;
      } catch (Throwable e) {
        // A handler threw, so its sender knows the outcome. The other senders still wait for it.
        completed++;
        context.reportException(e);
      }
    }
    if (outcome.refused() == null || completed == promises.size()) {
      return null;
    }
    failedMessages = failedMessages + promises.size() - completed;
    return outcome.refused();
  }

  /** Returns false if the message was acknowledged before, when it was sent. */
  private boolean report(
      Promise<Position> promise,
      BatchResult<Promise<Position>> outcome,
      int place,
      LogPosition log) {
    if (outcome.refused() != null) {
      return promise.tryFail(failure(outcome, place));
    }
    Position position = outcome.position(place);
    return outcome.missing() == null
        ? promise.tryComplete(
            log == null
                ? position
                : new Position(position.shard(), position.offset(), position.delayedId(), log))
        : promise.tryFail(
            new RefusedException.ReplicasMissing(
                position.shard(),
                position.offset(),
                position.delayedId(),
                outcome.missing(),
                timeoutMillis));
  }
}
