package dev.evenkeel.client.internal.produce;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.DueClock;
import dev.evenkeel.bus.Ending;
import dev.evenkeel.bus.Link;
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
import dev.evenkeel.client.internal.tracing.SendSpans;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A {@link Producer}: a {@link BatchSender} with a {@link SendBuffer} in front. Messages are taken
 * on any thread; everything else happens on one context. Nothing of the application is called under
 * the lock, and what the application throws goes to the context's exception handler.
 */
public final class BatchingProducer extends BatchSender<Promise<Producer.Position>>
    implements Producer, Ending {
  /** What happens to a message when the buffer is full. */
  private enum WhenFull {
    WAIT,
    REFUSE,
    /** Take it up to the hard limit. */
    STRETCH
  }

  private final Promise<Void> closed;
  private final EpochOpener opener;
  private final String topic;
  private final WhenFull whenFull;
  private final AckGate acks;
  private final DueClock dueClock;

  /** Null: no message has a span. */
  private final SendSpans spans;

  // Guarded by this.
  private final SendBuffer<Promise<Position>> buffer;
  private boolean closing;

  private volatile Handler<Throwable> exceptionHandler;
  private volatile Handler<Void> drainHandler;
  private volatile Handler<EpochClosed> epochHandler;

  public BatchingProducer(
      Link link,
      ClusterDirectory directory,
      ProducerOptions options,
      Router router,
      EpochOpener opener,
      EpochOpener.Opened identity,
      TopicInfo known) {
    super(
        link,
        directory,
        opener,
        options.getTopic(),
        new ProducerCore<>(
            CoreSettings.of(options),
            router,
            identity.producerId(),
            identity.epoch(),
            () -> ThreadLocalRandom.current().nextDouble()),
        Math.min(REQUEST_TIMEOUT_MILLIS, options.getDeliveryTimeoutMillis()));
    this.opener = opener;
    closed = context.promise();
    topic = options.getTopic();
    dueClock = directory.dueClock();
    whenFull = options.getOnFull() == ProducerOptions.OnFull.FAIL ? WhenFull.REFUSE : WhenFull.WAIT;
    buffer = new SendBuffer<>(options.getBufferBytes());
    acks = new AckGate(options, link, directory, this::schedule);
    spans = SendSpans.of(link.vertx(), options);
    begin(known);
  }

  @Override
  public Future<Position> send(Message message) {
    return take(message, null, whenFull);
  }

  @Override
  public Instant dueAfter(Duration deliverAfter) {
    return DueTime.after(deliverAfter, dueClock.millis());
  }

  @Override
  public Future<Position> sendAt(Message message, Instant due) {
    return take(message, due, whenFull);
  }

  @Override
  public Future<Void> write(Message message) {
    Future<Void> written = take(message, null, WhenFull.STRETCH).mapEmpty();
    Handler<Throwable> handler = exceptionHandler;
    return handler == null ? written : written.onFailure(handler);
  }

  private Future<Position> take(Message message, Instant due, WhenFull full) {
    ContextInternal caller = ContextInternal.current();
    Promise<Position> promise = caller == null ? Promise.promise() : caller.promise();
    SendSpans.Sending sending = spans == null ? null : spans.begin(topic, message, promise);
    Message sent = sending == null ? message : sending.message();
    try {
      sent.checkLimits();
      long dueMillis =
          due == null ? DueTime.NOW : DueTime.of(Producer.millis(due), dueClock.millis());
      take(sent, dueMillis, promise, full);
    } catch (RefusedException refused) {
      promise.fail(refused);
    }
    return sending == null ? promise.future() : promise.future().onComplete(sending);
  }

  private synchronized void take(
      Message message, long dueMillis, Promise<Position> promise, WhenFull full) {
    if (closing) {
      throw new RefusedException(Refusal.UNAVAILABLE, "the producer is closed");
    }
    if (core.endedBy() != null) {
      throw core.endedBy();
    }
    // The topic may just have been deleted and created again.
    seeTopic();
    if (!core.hasTopic()) {
      throw new RefusedException(Refusal.UNKNOWN_TOPIC, "there is no topic '" + topic + "'");
    }
    int bytes = BatchBuilder.sizeOf(message) + SendBuffer.MESSAGE_COST_BYTES;
    boolean room =
        full == WhenFull.STRETCH ? !buffer.isOverfull() : !buffer.isFull() && !buffer.hasWaiters();
    if (room) {
      accept(message, dueMillis, promise, bytes, MonotonicClock.millis());
    } else if (full != WhenFull.WAIT || !buffer.await(message, dueMillis, promise, bytes)) {
      throw new RefusedException(
          Refusal.OVERLOADED,
          "the producer's buffer is full: wait for earlier sends before sending more");
    }
  }

  /** Under the lock. */
  private void accept(
      Message message, long dueMillis, Promise<Position> promise, int bytes, long nowMillis) {
    if (core.add(message, dueMillis, promise, bytes, nowMillis)) {
      schedule();
    }
    buffer.take(bytes);
  }

  /** Takes waiting sends as far as there is room, or refuses all if nothing can be sent. */
  private void admit(long nowMillis) {
    while (true) {
      boolean dead = core.endedBy() != null || !core.hasTopic() || core.isOver(nowMillis);
      SendBuffer.Waiter<Promise<Position>> next = dead ? buffer.evict() : buffer.admit();
      if (next == null) {
        return;
      }
      if (next.flush() != null) {
        next.flush().run();
        schedule();
      } else if (dead) {
        refuseLater(next.token(), whyDead());
      } else {
        try {
          accept(next.message(), next.dueMillis(), next.token(), next.bytes(), nowMillis);
        } catch (RefusedException refused) {
          refuseLater(next.token(), refused);
        }
      }
    }
  }

  private RefusedException whyDead() {
    if (core.endedBy() != null) {
      return core.endedBy();
    }
    return core.hasTopic()
        ? core.tooLate()
        : new RefusedException(Refusal.UNKNOWN_TOPIC, "the topic was deleted");
  }

  private void refuseLater(Promise<Position> promise, RefusedException why) {
    context.runOnContext(none -> promise.tryFail(why));
  }

  @Override
  protected List<BatchResult<Promise<Position>>> pass(
      List<BatchResult<Promise<Position>>> known, long nowMillis) {
    List<BatchResult<Promise<Position>>> outcomes = acks.pass(known, nowMillis);
    for (BatchResult<Promise<Position>> outcome : outcomes) {
      buffer.release(outcome.batch().chargedBytes, outcome.tokens().size());
    }
    admit(nowMillis);
    return outcomes;
  }

  @Override
  protected String traceparent(List<OutBatch<Promise<Position>>> batches) {
    return spans == null
        ? null
        : spans.traceparent(batches.stream().flatMap(batch -> batch.tokens.stream()));
  }

  @Override
  protected void sent(List<OutBatch<Promise<Position>>> batches) {
    acks.sent(batches);
  }

  @Override
  protected long wakeAtMillis(long nowMillis) {
    return acks.wakeAtMillis(nowMillis);
  }

  @Override
  protected void report(List<BatchResult<Promise<Position>>> outcomes) {
    if (outcomes.isEmpty()) {
      return;
    }
    for (BatchResult<Promise<Position>> outcome : outcomes) {
      RefusedException failure = acks.report(outcome);
      Handler<Throwable> failures = exceptionHandler;
      if (failure != null && failures != null) {
        context.dispatch(failure, failures);
      }
    }
    boolean drained;
    synchronized (this) {
      outcomes.forEach(outcome -> outcome.batch().endFlushes());
      drained = buffer.drained();
    }
    Handler<Void> handler = drainHandler;
    if (drained && handler != null) {
      context.dispatch(null, handler);
    }
  }

  @Override
  protected void reopen() {
    long producerId;
    int epoch;
    synchronized (this) {
      producerId = core.producerId();
      epoch = core.epoch();
    }
    Future<EpochOpener.Opened> next = opener.next(producerId, epoch);
    awaitEpoch(next, () -> reportClosed(epoch, next.result().lastSequences()));
  }

  @Override
  protected void ended(RefusedException why) {
    Handler<Throwable> handler = exceptionHandler;
    if (handler != null) {
      handler.handle(why);
    }
    schedule();
  }

  /** Under the lock; the application hears of it after those whose messages are in the log. */
  private void reportClosed(int epoch, Map<Shard, Long> lastSequences) {
    Map<Integer, Long> ofTopic = new HashMap<>();
    lastSequences.forEach(
        (shard, last) -> {
          if (shard.topicId() == core.topicId()) {
            ofTopic.put(shard.shard(), last);
          }
        });
    context.runOnContext(
        none -> {
          Handler<EpochClosed> handler = epochHandler;
          if (handler != null) {
            handler.handle(new EpochClosed(epoch, ofTopic));
          }
        });
  }

  @Override
  public Future<Void> flush() {
    Promise<Void> promise = context.promise();
    synchronized (this) {
      Runnable begin =
          () -> flush(new Flush(() -> context.runOnContext(none -> promise.tryComplete())));
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

  @Override
  public Future<Void> close() {
    Future<Void> flushed;
    synchronized (this) {
      if (closing) {
        return closed.future();
      }
      closing = true;
      core.close(MonotonicClock.millis());
      flushed = flush();
    }
    flushed.onComplete(
        done ->
            context.runOnContext(
                none -> {
                  stop(new RefusedException(Refusal.UNAVAILABLE, "the producer is closed"));
                  closed.tryComplete();
                }));
    return closed.future();
  }

  @Override
  public Future<Void> over() {
    return closed.future();
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
