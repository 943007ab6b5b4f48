package dev.evenkeel.client.internal.produce;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.WakeTimer;
import dev.evenkeel.client.internal.produce.core.BatchResult;
import dev.evenkeel.client.internal.produce.core.OutBatch;
import dev.evenkeel.client.internal.produce.core.ProducerCore;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import io.vertx.core.Future;
import io.vertx.core.internal.ContextInternal;
import java.util.List;

/**
 * Does what a {@link ProducerCore} asks for: timers, requests to leaders, epochs. Where the batches
 * come from is up to the subclass: memory ({@link BatchingProducer}) or a spool.
 *
 * <p>Everything happens on one context, except that the core and whatever the subclass guards by
 * the lock of this object may be used on any thread.
 *
 * @param <T> what stands for one message, or one batch, towards whoever sent it
 */
public abstract class BatchSender<T> {
  /** Looks after changes of the topic, and whatever else a timer was not set for. */
  private static final long TICK_MILLIS = 1_000;

  protected final ContextInternal context;
  private final ClusterDirectory directory;
  private final EpochOpener opener;
  private final String topic;
  private final Appender<T> appender;
  private final WakeTimer timer;
  private final Runnable onLeader = this::leaderIsThere;
  private long tick;

  /** Guarded by this. */
  protected final ProducerCore<T> core;

  // Guarded by this.
  private boolean pollScheduled;
  private List<TopicInfo> topicsSeen;

  // Of the context.
  private boolean opening;
  private boolean endTold;

  /**
   * @param topic its name
   * @param timeoutMillis how long one try of a batch waits for its answer
   */
  protected BatchSender(
      Link link,
      ClusterDirectory directory,
      EpochOpener opener,
      String topic,
      ProducerCore<T> core,
      long timeoutMillis) {
    this.directory = directory;
    this.opener = opener;
    this.topic = topic;
    this.core = core;
    context = (ContextInternal) link.vertx().getOrCreateContext();
    timer = new WakeTimer(context.owner(), this::schedule);
    appender = new Appender<>(link, directory, timeoutMillis, this::answered);
  }

  /** Begins to look after the topic, leaders and timers. */
  protected final void begin() {
    synchronized (this) {
      seeTopic();
    }
    directory.onLeader(onLeader);
    tick = context.owner().setPeriodic(TICK_MILLIS, id -> schedule());
  }

  protected static long nowMillis() {
    return System.nanoTime() / 1_000_000;
  }

  /** The topic is there. Under the lock. */
  protected void topicSeen(TopicInfo info) {
    core.topic(info.id(), info.shards());
  }

  /** Batches are on their way, some of them perhaps once more. */
  protected void sent(List<OutBatch<T>> batches) {}

  /** Takes what became known of batches, and gives what is to be told now. Under the lock. */
  protected List<BatchResult<T>> pass(List<BatchResult<T>> outcomes, long nowMillis) {
    return outcomes;
  }

  /** When to poll next even if nothing happens, beside what the core says. */
  protected long wakeAtMillis(long nowMillis) {
    return Long.MAX_VALUE;
  }

  /** Tells the senders what became of their messages. */
  protected abstract void tell(List<BatchResult<T>> outcomes);

  /** The core needs another epoch: calls {@link #awaitEpoch}, or ends the core. */
  protected abstract void reopen();

  /** What there is to do beside sending, while the core is running. */
  protected void follow() {}

  /** The core has ended; called once, unless {@link #stop} was called before. */
  protected abstract void ended(RefusedException why);

  /** Has {@link #poll} run after what runs now, so that what is sent in one go shares batches. */
  protected final synchronized void schedule() {
    if (!pollScheduled) {
      pollScheduled = true;
      context.runOnContext(none -> poll());
    }
  }

  protected final void poll() {
    List<OutBatch<T>> sends;
    List<BatchResult<T>> outcomes;
    int epoch;
    long wakeAtMillis;
    synchronized (this) {
      pollScheduled = false;
      seeTopic();
      long now = nowMillis();
      sends = core.poll(now);
      epoch = core.epoch();
      outcomes = pass(core.takeOutcomes(), now);
      wakeAtMillis = Math.min(core.wakeAtMillis(), wakeAtMillis(now));
    }
    if (!sends.isEmpty()) {
      appender.send(sends, epoch);
      sent(sends);
    }
    timer.wakeAt(wakeAtMillis, nowMillis());
    tell(outcomes);
    followState();
  }

  private void seeTopic() {
    ClusterView view = directory.current();
    if (view != null && view.topics() != topicsSeen) {
      topicsSeen = view.topics();
      TopicInfo info = view.topic(topic);
      if (info != null) {
        topicSeen(info);
      }
    }
  }

  private void leaderIsThere() {
    context.runOnContext(
        none -> {
          synchronized (this) {
            core.retryNow();
          }
          poll();
        });
  }

  private void answered(List<OutBatch<T>> batches, int epoch, AppendResults answer, String detail) {
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

  private void followState() {
    ProducerCore.State state;
    synchronized (this) {
      state = core.state();
    }
    switch (state) {
      case RUNNING -> follow();
      case OPENING -> {
        if (!opening) {
          reopen();
        }
      }
      case ENDED -> {
        if (!endTold) {
          endTold = true;
          ended(core.endedBy());
        }
      }
    }
  }

  /**
   * Nothing is sent before this epoch is open; if it cannot be opened, the core ends.
   *
   * @param opened called when it is open, just before the core hears of it
   */
  protected final void awaitEpoch(Future<EpochOpener.Opened> epoch, Runnable opened) {
    opening = true;
    synchronized (this) {
      core.reopen();
    }
    epoch.onComplete(
        done ->
            context.runOnContext(
                none -> {
                  opening = false;
                  synchronized (this) {
                    if (done.succeeded()) {
                      opened.run();
                      core.epochOpened(
                          done.result().producerId(),
                          done.result().epoch(),
                          done.result().lastSequences());
                    } else {
                      core.end(reason(done.cause()));
                    }
                  }
                  poll();
                }));
  }

  /** Why it ends because of {@code failure}. */
  protected static RefusedException reason(Throwable failure) {
    if (failure instanceof RefusedException refused) {
      return refused.refusal() == Refusal.PRODUCER_FENCED ? ProducerCore.fenced() : refused;
    }
    return new RefusedException(Refusal.UNAVAILABLE, "the producer failed: " + failure);
  }

  /** Sends nothing more, and fails what is left. On the context. */
  protected final void stop(RefusedException why) {
    endTold = true;
    opener.stop();
    directory.offLeader(onLeader);
    context.owner().cancelTimer(tick);
    synchronized (this) {
      core.end(why);
    }
    timer.cancel();
  }
}
