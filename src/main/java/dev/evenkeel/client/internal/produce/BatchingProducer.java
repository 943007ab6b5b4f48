package dev.evenkeel.client.internal.produce;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.WakeTimer;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.Router;
import dev.evenkeel.client.internal.produce.core.BatchResult;
import dev.evenkeel.client.internal.produce.core.CoreSettings;
import dev.evenkeel.client.internal.produce.core.DueTime;
import dev.evenkeel.client.internal.produce.core.Flush;
import dev.evenkeel.client.internal.produce.core.OutBatch;
import dev.evenkeel.client.internal.produce.core.ProducerCore;
import dev.evenkeel.client.internal.produce.core.SendBuffer;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A {@link Producer}: a lock around {@link ProducerCore} and {@link SendBuffer}, and the timers and
 * requests that these ask for. Messages are taken on any thread; everything else happens on one
 * context. Nothing of the application is called under the lock, and what the application throws
 * goes to the context's exception handler.
 */
public final class BatchingProducer implements Producer {
  /** Looks after changes of the topic, and whatever else a timer was not set for. */
  private static final long TICK_MILLIS = 1_000;

  private final ContextInternal context;
  private final ClusterDirectory directory;
  private final String topic;
  private final Intake.WhenFull whenFull;
  private final EpochOpener opener;
  private final AckGate acks;
  private final Appender<Promise<Position>> appender;
  private final long tick;
  private final Runnable onLeader = this::leaderIsThere;

  // Guarded by this.
  private final ProducerCore<Promise<Position>> core;
  private final SendBuffer<Promise<Position>> buffer;
  private final Intake intake;
  private boolean pollScheduled;
  private Promise<Void> closing;

  // Of the context.
  private List<TopicInfo> topicsSeen;
  private final WakeTimer timer;
  private boolean opening;
  private boolean endTold;

  private volatile Handler<Throwable> exceptionHandler;
  private volatile Handler<Void> drainHandler;
  private volatile Handler<EpochClosed> epochHandler;

  public BatchingProducer(
      Link link,
      ClusterDirectory directory,
      ProducerOptions options,
      Router router,
      EpochOpener opener,
      EpochOpener.Opened identity) {
    this.directory = directory;
    this.opener = opener;
    topic = options.getTopic();
    whenFull =
        options.getOnFull() == ProducerOptions.OnFull.FAIL
            ? Intake.WhenFull.REFUSE
            : Intake.WhenFull.WAIT;
    context = (ContextInternal) link.vertx().getOrCreateContext();
    core =
        new ProducerCore<>(
            CoreSettings.of(options),
            router,
            identity.producerId(),
            identity.epoch(),
            () -> ThreadLocalRandom.current().nextDouble());
    buffer = new SendBuffer<>(options.getBufferBytes());
    intake = new Intake(topic, core, buffer, this::schedule, this::refuseLater);
    timer = new WakeTimer(context.owner(), this::schedule);
    acks = new AckGate(options, link, directory, this::schedule);
    appender =
        new Appender<>(
            link,
            directory,
            Math.min(Appender.REQUEST_TIMEOUT_MILLIS, options.getDeliveryTimeoutMillis()),
            this::answered);
    seeTopic();
    directory.onLeader(onLeader);
    tick = context.owner().setPeriodic(TICK_MILLIS, id -> schedule());
  }

  @Override
  public Future<Position> send(Message message) {
    return take(message, null, whenFull);
  }

  @Override
  public Future<Position> sendAt(Message message, Instant due) {
    return take(message, due, whenFull);
  }

  @Override
  public Future<Void> write(Message message) {
    Future<Void> written = take(message, null, Intake.WhenFull.STRETCH).mapEmpty();
    Handler<Throwable> handler = exceptionHandler;
    return handler == null ? written : written.onFailure(handler);
  }

  private Future<Position> take(Message message, Instant due, Intake.WhenFull full) {
    ContextInternal caller = ContextInternal.current();
    Promise<Position> promise = caller == null ? Promise.promise() : caller.promise();
    try {
      message.checkLimits();
      long dueMillis =
          due == null ? DueTime.NOW : DueTime.of(Producer.millis(due), System.currentTimeMillis());
      take(message, dueMillis, promise, full);
    } catch (RefusedException refused) {
      promise.fail(refused);
    }
    return promise.future();
  }

  private synchronized void take(
      Message message, long dueMillis, Promise<Position> promise, Intake.WhenFull full) {
    if (closing != null) {
      throw new RefusedException(Refusal.UNAVAILABLE, "the producer is closed");
    }
    intake.take(message, dueMillis, promise, full, nowMillis());
  }

  private static long nowMillis() {
    return System.nanoTime() / 1_000_000;
  }

  /** Has {@link #poll} run after what runs now, so that what is sent in one go shares batches. */
  private synchronized void schedule() {
    if (!pollScheduled) {
      pollScheduled = true;
      context.runOnContext(none -> poll());
    }
  }

  private void poll() {
    List<OutBatch<Promise<Position>>> sends;
    List<BatchResult<Promise<Position>>> outcomes;
    int epoch;
    long wakeAtMillis;
    synchronized (this) {
      pollScheduled = false;
      seeTopic();
      sends = core.poll(nowMillis());
      epoch = core.epoch();
      wakeAtMillis = core.wakeAtMillis();
      outcomes = acks.pass(core.takeOutcomes(), nowMillis());
      for (BatchResult<Promise<Position>> outcome : outcomes) {
        buffer.release(outcome.batch().chargedBytes, outcome.tokens().size());
      }
      intake.admit(nowMillis());
    }
    if (!sends.isEmpty()) {
      appender.send(sends, epoch);
      acks.sent(sends);
    }
    timer.wakeAt(Math.min(wakeAtMillis, acks.wakeAtMillis(nowMillis())), nowMillis());
    if (!outcomes.isEmpty()) {
      tell(outcomes);
    }
    followState();
  }

  private void seeTopic() {
    ClusterView view = directory.current();
    if (view != null && view.topics() != topicsSeen) {
      topicsSeen = view.topics();
      TopicInfo info = view.topic(topic);
      if (info != null) {
        core.topic(info.id(), info.shards());
      }
    }
  }

  private void leaderIsThere() {
    synchronized (this) {
      core.retryNow();
    }
    schedule();
  }

  private void refuseLater(Promise<Position> promise, RefusedException why) {
    context.runOnContext(none -> promise.tryFail(why));
  }

  private void tell(List<BatchResult<Promise<Position>>> outcomes) {
    for (BatchResult<Promise<Position>> outcome : outcomes) {
      RefusedException untold = acks.tell(outcome);
      Handler<Throwable> failures = exceptionHandler;
      if (untold != null && failures != null) {
        context.dispatch(untold, failures);
      }
    }
    boolean drained;
    synchronized (this) {
      outcomes.forEach(outcome -> outcome.batch().tellFlushes());
      drained = buffer.drained();
    }
    Handler<Void> handler = drainHandler;
    if (drained && handler != null) {
      context.dispatch(null, handler);
    }
  }

  private void answered(
      List<OutBatch<Promise<Position>>> batches, int epoch, AppendResults answer, String detail) {
    context.emit(
        none -> {
          synchronized (this) {
            long now = nowMillis();
            for (int i = 0; i < batches.size(); i++) {
              Result result = answer.results().get(i);
              if (result.ok()) {
                batches.get(i).logIndex = answer.logIndex();
              }
              core.answered(batches.get(i), epoch, result, detail, now);
            }
          }
          poll();
        });
  }

  /** Does what the core's state asks for, once for each time it gets there. */
  private void followState() {
    ProducerCore.State state;
    long producerId;
    int epoch;
    synchronized (this) {
      state = core.state();
      producerId = core.producerId();
      epoch = core.epoch();
    }
    if (state == ProducerCore.State.OPENING && !opening) {
      opening = true;
      opener
          .next(producerId, epoch)
          .onComplete(
              opened ->
                  context.runOnContext(
                      none -> {
                        opening = false;
                        synchronized (this) {
                          if (opened.succeeded()) {
                            core.epochOpened(
                                opened.result().producerId(),
                                opened.result().epoch(),
                                opened.result().lastSequences());
                          } else {
                            core.end(reason(opened.cause()));
                          }
                        }
                        poll();
                        if (opened.succeeded()) {
                          tellClosed(epoch, opened.result().lastSequences());
                        }
                      }));
    } else if (state == ProducerCore.State.ENDED && !endTold) {
      endTold = true;
      Handler<Throwable> handler = exceptionHandler;
      if (handler != null) {
        handler.handle(core.endedBy());
      }
      schedule();
    }
  }

  private void tellClosed(int epoch, Map<Shard, Long> lastSequences) {
    Handler<EpochClosed> handler = epochHandler;
    if (handler == null) {
      return;
    }
    Map<Integer, Long> ofTopic = new HashMap<>();
    int topicId;
    synchronized (this) {
      topicId = core.topicId();
    }
    lastSequences.forEach(
        (shard, last) -> {
          if (shard.topicId() == topicId) {
            ofTopic.put(shard.shard(), last);
          }
        });
    handler.handle(new EpochClosed(epoch, ofTopic));
  }

  private static RefusedException reason(Throwable failure) {
    if (failure instanceof RefusedException refused) {
      return refused.refusal() == Refusal.PRODUCER_FENCED ? ProducerCore.fenced() : refused;
    }
    return new RefusedException(Refusal.UNAVAILABLE, "cannot open an epoch: " + failure);
  }

  @Override
  public Future<Void> flush() {
    Promise<Void> promise = context.promise();
    synchronized (this) {
      Runnable begin = () -> flush(new Flush(() -> complete(promise)));
      if (buffer.hasWaiters()) {
        buffer.awaitTurn(begin);
      } else {
        begin.run();
      }
    }
    schedule();
    return promise.future();
  }

  private void flush(Flush flush) {
    acks.flush(flush);
    core.flush(flush);
  }

  /** The flush ends under the lock; the application is told outside of it. */
  private void complete(Promise<Void> promise) {
    context.runOnContext(none -> promise.tryComplete());
  }

  @Override
  public Future<Void> close() {
    Future<Void> flushed;
    synchronized (this) {
      if (closing != null) {
        return closing.future();
      }
      closing = context.promise();
      flushed = flush();
    }
    flushed.onComplete(
        done ->
            context.runOnContext(
                none -> {
                  endTold = true;
                  opener.stop();
                  directory.offLeader(onLeader);
                  context.owner().cancelTimer(tick);
                  synchronized (this) {
                    core.end(new RefusedException(Refusal.UNAVAILABLE, "the producer is closed"));
                  }
                  timer.cancel();
                  closing.tryComplete();
                }));
    return closing.future();
  }

  @Override
  public Future<Void> end() {
    return close();
  }

  @Override
  public synchronized long pendingMessages() {
    return buffer.pending();
  }

  @Override
  public long failedMessages() {
    return acks.failedMessages();
  }

  @Override
  public Producer epochHandler(Handler<EpochClosed> handler) {
    epochHandler = handler;
    return this;
  }

  @Override
  public Producer exceptionHandler(Handler<Throwable> handler) {
    exceptionHandler = handler;
    return this;
  }

  @Override
  public synchronized Producer setWriteQueueMaxSize(int maxMessages) {
    if (maxMessages < 1) {
      throw new IllegalArgumentException("a write queue of " + maxMessages + ": use 1 or more");
    }
    buffer.messagesMax(maxMessages);
    return this;
  }

  @Override
  public synchronized boolean writeQueueFull() {
    boolean full = buffer.isFull();
    if (full) {
      buffer.wantDrain();
    }
    return full;
  }

  @Override
  public Producer drainHandler(Handler<Void> handler) {
    drainHandler = handler;
    return this;
  }
}
