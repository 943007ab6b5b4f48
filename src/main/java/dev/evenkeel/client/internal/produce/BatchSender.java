package dev.evenkeel.client.internal.produce;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.EventLoops;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.WakeTimer;
import dev.evenkeel.client.internal.produce.core.BatchResult;
import dev.evenkeel.client.internal.produce.core.DueTime;
import dev.evenkeel.client.internal.produce.core.OutBatch;
import dev.evenkeel.client.internal.produce.core.ProducerCore;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.ContextInternal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Carries out what a {@link ProducerCore} decides: timers, requests to leaders, epochs. The
 * subclass provides the batches, from memory ({@link BatchingProducer}) or from a spool.
 *
 * <p>Everything happens on one context, except that the core and whatever the subclass guards by
 * the lock of this object may be used on any thread.
 *
 * @param <T> what stands for one message, or one batch, towards whoever sent it
 */
public abstract class BatchSender<T> {
  /** How often it looks for changes of the topic, and for anything that no timer was set for. */
  private static final long TICK_MILLIS = 1_000;

  /** How often it asks for the topic's shards when the former ones are sealed. */
  private static final long LOOK_MILLIS = 50;

  /** Batches join a request up to this size. */
  private static final int REQUEST_BYTES_MAX = 1 << 20;

  /** The same for what they are unpacked. Nodes that are busy take less than they allow. */
  private static final int REQUEST_UNPACKED_BYTES_MAX = Limits.APPEND_UNPACKED_BYTES_MAX / 4;

  /** How long one try waits for its answer; much less than the delivery timeout. */
  protected static final long REQUEST_TIMEOUT_MILLIS = 5_000;

  protected final ContextInternal context;
  private final ClusterDirectory directory;
  private final EpochOpener opener;
  private final String topic;
  private final Link link;
  private final LeaderClient leaders;
  private final long timeoutMillis;
  private final WakeTimer timer;
  private final Runnable onLeader = this::leaderIsThere;
  private long tick;

  /** Guarded by this. */
  protected final ProducerCore<T> core;

  // Guarded by this.
  private boolean pollScheduled;
  private List<TopicInfo> topicsSeen;

  // Of the context.
  private boolean looking;
  private boolean opening;
  private boolean endReported;

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
    context = EventLoops.ownOf(link.vertx());
    timer = new WakeTimer(context.owner(), this::schedule);
    this.link = link;
    this.timeoutMillis = timeoutMillis;
    leaders = new LeaderClient(link, directory);
  }

  /**
   * Begins to look after the topic, leaders and timers.
   *
   * @param known the topic as it was found: a node that has just started may not know it now
   */
  protected final void begin(TopicInfo known) {
    synchronized (this) {
      topicSeen(known);
      seeTopic();
    }
    directory.onLeader(onLeader);
    tick = context.owner().setPeriodic(TICK_MILLIS, id -> schedule());
  }

  /** The topic is there. Under the lock. */
  protected void topicSeen(TopicInfo info) {
    core.topic(info);
  }

  /** These batches were sent, some of them perhaps again. */
  protected void sent(List<OutBatch<T>> batches) {}

  /**
   * Takes results of batches, and returns those that senders are to learn now. Called under the
   * lock.
   */
  protected List<BatchResult<T>> pass(List<BatchResult<T>> outcomes, long nowMillis) {
    return outcomes;
  }

  /** The span that a request with these batches belongs to, as {@code traceparent}; or null. */
  protected String traceparent(List<OutBatch<T>> batches) {
    return null;
  }

  /** When to poll next even if nothing happens, beside what the core says. */
  protected long wakeAtMillis(long nowMillis) {
    return Long.MAX_VALUE;
  }

  /** Passes results on to the senders. */
  protected abstract void report(List<BatchResult<T>> outcomes);

  /** The core needs another epoch: calls {@link #awaitEpoch}, or ends the core. */
  protected abstract void reopen();

  /** Does what there is to do beside sending, while the core is running. */
  protected void follow() {}

  /** The core has ended; called once, unless {@link #stop} was called before. */
  protected abstract void ended(RefusedException why);

  /**
   * Has {@link #poll} run after the current task, so that messages sent in one go share batches.
   */
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
    boolean awaitsShards;
    boolean looks;
    long messagesMax;
    long bytesMax;
    synchronized (this) {
      pollScheduled = false;
      seeTopic();
      long now = MonotonicClock.millis();
      sends = core.poll(now);
      epoch = core.epoch();
      messagesMax = core.requestMessagesMax(now);
      bytesMax = Math.min(REQUEST_BYTES_MAX, core.requestBytesMax(now));
      outcomes = pass(core.takeOutcomes(), now);
      wakeAtMillis = Math.min(core.wakeAtMillis(), wakeAtMillis(now));
      awaitsShards = core.awaitsShards();
      looks = core.looksForTopic();
      if (awaitsShards) {
        wakeAtMillis = Math.min(wakeAtMillis, now + LOOK_MILLIS);
      }
    }
    if (!sends.isEmpty()) {
      send(sends, epoch, messagesMax, bytesMax);
      sent(sends);
    }
    if (looks && !looking) {
      look();
    }
    if (awaitsShards) {
      // The node that answered may have heard of the new shards a little later than others.
      directory.refresh();
    }
    timer.wakeAt(wakeAtMillis, MonotonicClock.millis());
    report(outcomes);
    followState();
  }

  /** Takes up changes of the topic. Under the lock. */
  protected final void seeTopic() {
    ClusterView view = directory.current();
    if (view != null && view.topics() != topicsSeen) {
      topicsSeen = view.topics();
      TopicInfo info = view.topic(topic);
      if (info != null) {
        topicSeen(info);
      }
    }
  }

  /** Finds out why a log group does not know the topic or a shard. */
  private void look() {
    looking = true;
    directory
        .askAnew()
        .onComplete(
            answer ->
                context.runOnContext(
                    none -> {
                      looking = false;
                      if (answer.succeeded()) {
                        synchronized (this) {
                          looked(answer.result());
                        }
                        poll();
                      } else {
                        timer.wakeAt(
                            MonotonicClock.millis() + LOOK_MILLIS, MonotonicClock.millis());
                      }
                    }));
  }

  private void looked(ClusterView view) {
    TopicInfo info = view.topic(topic);
    if (info != null) {
      topicSeen(info);
      core.looked();
    } else if (view.caughtUp()) {
      core.topicDeleted();
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

  /**
   * Sends batches to the leaders of their data groups, those of one shard in their order. Batches
   * that go to one group at one time share a request.
   */
  private void send(List<OutBatch<T>> batches, int epoch, long messagesMax, long bytesMax) {
    ShardGroups groups = directory.shardGroups();
    Map<Integer, List<OutBatch<T>>> byGroup = new LinkedHashMap<>();
    for (OutBatch<T> batch : batches) {
      byGroup.computeIfAbsent(groups.of(batch.shard), group -> new ArrayList<>()).add(batch);
    }
    byGroup.forEach((group, ofGroup) -> split(group, ofGroup, epoch, messagesMax, bytesMax));
  }

  private void split(
      int group, List<OutBatch<T>> batches, int epoch, long messagesMax, long bytesMax) {
    int from = 0;
    int bytes = 0;
    int messages = 0;
    int unpacked = 0;
    for (int i = 0; i < batches.size(); i++) {
      int more = AppendBody.DELAYED_SHARD_BYTES + batches.get(i).batch.length();
      int moreUnpacked = batches.get(i).batch.unpackedLength();
      int moreMessages = batches.get(i).batch.count();
      boolean full =
          bytes + more > bytesMax
              || messages + moreMessages > messagesMax
              || unpacked + moreUnpacked > REQUEST_UNPACKED_BYTES_MAX
              || i - from == AppendBody.BATCHES_MAX;
      if (i > from && full) {
        request(group, batches.subList(from, i), bytes, epoch);
        from = i;
        bytes = 0;
        messages = 0;
        unpacked = 0;
      }
      bytes += more;
      messages += moreMessages;
      unpacked += moreUnpacked;
    }
    request(group, batches.subList(from, batches.size()), bytes, epoch);
  }

  private void request(int group, List<OutBatch<T>> batches, int bytes, int epoch) {
    String traceparent = traceparent(batches);
    // Another leader may take a repeated batch: its sequence keeps it from being taken twice.
    leaders
        .ask(
            group,
            LeaderClient.Retry.NONE,
            (asked, leader) ->
                link.request(
                        Addresses.data(leader), frame(batches, bytes), timeoutMillis, traceparent)
                    .map(answer -> results(answer, batches.size())))
        .onComplete(
            results -> {
              if (results.results().stream().anyMatch(BatchSender::refersElsewhere)) {
                directory.refresh();
              }
              answered(batches, epoch, results, null);
            },
            failure -> {
              RefusedException refused = RefusedException.of(failure);
              Result no = new Result(refused.refusal(), 0);
              AppendResults results =
                  new AppendResults(-1, Collections.nCopies(batches.size(), no));
              answered(batches, epoch, results, refused.getMessage());
            });
  }

  private static Buffer frame(List<? extends OutBatch<?>> batches, int bytes) {
    // Written straight into the frame: one copy less of everything that is ever sent.
    Buffer frame = Buffer.buffer(Frames.HEADER_BYTES + bytes);
    frame.appendByte((byte) Frames.VERSION).appendByte((byte) Op.APPEND.ordinal());
    for (OutBatch<?> each : batches) {
      ByteBuffer batch = each.batch.bytes();
      frame.appendInt(each.shard.topicId());
      if (each.dueMillis == DueTime.NOW) {
        frame.appendInt(each.shard.shard());
      } else {
        frame.appendInt(-1 - each.shard.shard()).appendLong(each.dueMillis);
      }
      frame.appendBytes(batch.array(), batch.arrayOffset(), each.batch.length());
    }
    return frame;
  }

  private static AppendResults results(Buffer answer, int expected) {
    AppendResults results = AppendResults.decode(Frames.answerBody(answer));
    if (results.results().size() != expected) {
      throw new RefusedException(
          Refusal.INDETERMINATE,
          expected + " batches, but " + results.results().size() + " results");
    }
    return results;
  }

  private static boolean refersElsewhere(Result result) {
    return !result.ok()
        && switch (result.refusal()) {
          case NOT_LEADER, UNAVAILABLE, INDETERMINATE, UNKNOWN_TOPIC, UNKNOWN_SHARD, SEALED -> true;
          default -> false;
        };
  }

  /**
   * One try of a request is over.
   *
   * @param epoch in which the batches were sent
   * @param detail of a refusal of all of them, or null
   */
  private void answered(List<OutBatch<T>> batches, int epoch, AppendResults answer, String detail) {
    context.emit(
        none -> {
          synchronized (this) {
            long now = MonotonicClock.millis();
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
        if (!endReported) {
          endReported = true;
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

  /** Stops sending, and fails what is left. On the context. */
  protected final void stop(RefusedException why) {
    endReported = true;
    opener.stop();
    directory.offLeader(onLeader);
    context.owner().cancelTimer(tick);
    synchronized (this) {
      core.end(why);
    }
    timer.cancel();
  }
}
