package dev.evenkeel.client.internal.spool;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.WakeTimer;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.internal.produce.Appender;
import dev.evenkeel.client.internal.produce.EpochOpener;
import dev.evenkeel.client.internal.produce.core.BatchResult;
import dev.evenkeel.client.internal.produce.core.CoreSettings;
import dev.evenkeel.client.internal.produce.core.OutBatch;
import dev.evenkeel.client.internal.produce.core.ProducerCore;
import dev.evenkeel.client.internal.spool.log.AckPrefix;
import dev.evenkeel.client.internal.spool.log.SpoolIntake.Token;
import dev.evenkeel.client.internal.spool.log.SpoolLog;
import dev.evenkeel.client.internal.spool.log.SpoolRecord;
import dev.evenkeel.client.internal.spool.log.SpoolState;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Sends the frames of a spool, run after run, each in its own epoch. On the producer's context,
 * except for {@link #offer}.
 *
 * <p>A frame comes straight from memory if there is room and nothing is on the disk before it, else
 * it is loaded from the disk when its turn has come. A run's epoch is opened when all before it is
 * acknowledged, and that is in the spool, so nothing is ever sent in an epoch that has been closed.
 */
final class SpoolSender {
  private static final long TICK_MILLIS = 1_000;

  /** How often it is noted in the spool what is acknowledged. */
  private static final long NOTE_MILLIS = 100;

  private static final long LOAD_BYTES_MAX = 4 << 20;

  private final ContextInternal context;
  private final ClusterDirectory directory;
  private final EpochOpener opener;
  private final SpoolEpochs epochs;
  private final SpoolDisk disk;
  private final SpoolListener listener;
  private final SpoolState.Identity identity;
  private final ProducerCore<SpooledBatch> core;
  private final Appender<SpooledBatch> appender;
  private final WakeTimer timer;
  private final Runnable onLeader = this::leaderIsThere;
  private final long tick;
  private final SpoolWindow window;
  private final AckPrefix prefix;
  private final Map<Long, List<List<Token<Promise<Producer.Position>>>>> waiting = new HashMap<>();
  private final int ownRun;
  private List<TopicInfo> topicsSeen;
  private final boolean resend;

  /** The epoch in whose opening the program before ended, or null. */
  private final SpoolRecord.Opening interrupted;

  private boolean pollScheduled;
  private boolean behind;
  private boolean loading;
  private boolean opening;
  private boolean noteDue;
  private long noted;
  private long told;
  private boolean ended;

  private volatile long ackedMessages;
  private volatile long oldestMillis = -1;

  /**
   * @param state of the spool, in which the own run has begun; read here only
   * @param behind whether there are frames to be loaded
   */
  SpoolSender(
      Link link,
      ClusterDirectory directory,
      EpochOpener opener,
      SpoolDisk disk,
      ProducerOptions options,
      SpoolState state,
      SpoolWindow window,
      boolean behind,
      SpoolListener listener) {
    context = (ContextInternal) link.vertx().getOrCreateContext();
    this.directory = directory;
    this.opener = opener;
    epochs = new SpoolEpochs(opener, disk, state);
    this.disk = disk;
    this.listener = listener;
    this.window = window;
    this.behind = behind;
    identity = state.identity();
    ownRun = state.run();
    resend = options.isSpoolResend();
    interrupted = state.opening();
    prefix = new AckPrefix(state.ackedFrame(), state.ackedMessages());
    noted = state.ackedFrame();
    ackedMessages = state.ackedMessages();
    core =
        new ProducerCore<>(
            CoreSettings.ofSpool(options),
            null,
            identity.producerId(),
            state.epoch(),
            () -> ThreadLocalRandom.current().nextDouble());
    appender = new Appender<>(link, directory, Appender.REQUEST_TIMEOUT_MILLIS, this::answered);
    timer = new WakeTimer(context.owner(), this::schedule);
    directory.onLeader(onLeader);
    tick = context.owner().setPeriodic(TICK_MILLIS, id -> schedule());
  }

  /** Has it look for what to do. On the context. */
  void start() {
    seeTopic();
    if (interrupted != null) {
      // The epoch before it may be fenced.
      awaitEpoch(interrupted.run(), epochs.resume(window.run(), interrupted));
    }
    schedule();
  }

  long ackedMessages() {
    return ackedMessages;
  }

  long lostMessages() {
    return epochs.lostMessages();
  }

  /** When the oldest that is on its way was spooled, or -1. */
  long oldestMillis() {
    return oldestMillis;
  }

  /** A frame has been written. On the disk's thread. */
  void offer(
      SpoolLog log, SpoolRecord.Frame frame, List<List<Token<Promise<Producer.Position>>>> tokens) {
    boolean direct = window.takeDirectly(log, frame);
    context.runOnContext(
        none -> {
          if (direct) {
            add(frame, tokens);
          } else {
            behind = true;
            if (tokens.stream().anyMatch(each -> !each.isEmpty())) {
              waiting.put(frame.number(), tokens);
            }
          }
          poll();
        });
  }

  private void add(SpoolRecord.Frame frame, List<List<Token<Promise<Producer.Position>>>> tokens) {
    prefix.add(frame);
    for (int i = 0; i < frame.items().size(); i++) {
      SpoolRecord.Item item = frame.items().get(i);
      long first = item.batch().firstSequence();
      long end = first + item.batch().count();
      long base = epochs.base(item.shard());
      SpooledBatch held =
          new SpooledBatch(
              frame.number(), item.shard(), end, tokens == null ? List.of() : tokens.get(i));
      if (ended) {
        held.failed(core.endedBy());
      } else if (end <= base) {
        acked(held, item.batch().count(), item.batch().length(), Result.OFFSET_FORGOTTEN);
      } else {
        item.batch().stamped(core.producerId(), core.epoch(), first - base);
        epochs.sending(item.shard(), first);
        core.addStamped(item.shard(), item.batch(), item.dueMillis(), held);
      }
    }
  }

  private void schedule() {
    if (!pollScheduled) {
      pollScheduled = true;
      context.runOnContext(none -> poll());
    }
  }

  private void leaderIsThere() {
    context.runOnContext(
        none -> {
          core.retryNow();
          poll();
        });
  }

  private static long nowMillis() {
    return System.nanoTime() / 1_000_000;
  }

  private void poll() {
    pollScheduled = false;
    if (ended) {
      return;
    }
    seeTopic();
    List<OutBatch<SpooledBatch>> sends = core.poll(nowMillis());
    if (!sends.isEmpty()) {
      appender.send(sends, core.epoch());
    }
    timer.wakeAt(core.wakeAtMillis(), nowMillis());
    List<BatchResult<SpooledBatch>> outcomes = core.takeOutcomes();
    RefusedException refused = null;
    for (BatchResult<SpooledBatch> outcome : outcomes) {
      SpooledBatch held = outcome.tokens().get(0);
      if (outcome.refused() == null) {
        acked(
            held,
            outcome.batch().batch.count(),
            outcome.batch().batch.length(),
            outcome.baseOffset());
      } else {
        refused = outcome.refused();
        held.failed(refused);
      }
    }
    if (core.state() == ProducerCore.State.ENDED) {
      refused = core.endedBy();
    }
    if (refused != null) {
      end(refused);
      return;
    }
    oldestMillis = prefix.oldestMillis();
    if (prefix.frame() > noted && !noteDue) {
      noteDue = true;
      context.owner().setTimer(NOTE_MILLIS, id -> note());
    }
    follow();
    if (prefix.frame() > told || !outcomes.isEmpty()) {
      told = prefix.frame();
      listener.progress();
    }
  }

  private void seeTopic() {
    ClusterView view = directory.current();
    if (view == null || view.topics() == topicsSeen) {
      return;
    }
    topicsSeen = view.topics();
    TopicInfo info = view.topic(identity.topic());
    if (info != null) {
      core.topic(info.id(), info.shards());
      if (info.id() != identity.topicId()) {
        end(
            new RefusedException(
                Refusal.UNKNOWN_TOPIC, "the topic was deleted, and there is another of its name"));
      } else {
        listener.shards(info.shards());
      }
    }
  }

  private void acked(SpooledBatch held, int messages, int bytes, long baseOffset) {
    window.release(bytes);
    prefix.acked(held.frame());
    epochs.taken(held.shard(), held.endSequence() - messages, held.endSequence());
    ackedMessages = ackedMessages + messages;
    held.acked(baseOffset);
  }

  /** Notes in the spool what is acknowledged. */
  private void note() {
    noteDue = false;
    long frame = prefix.frame();
    long messages = prefix.messages();
    if (frame > noted && !ended) {
      noted = frame;
      disk.run(
              log -> {
                log.acked(frame, messages);
                window.sized(log);
                return null;
              })
          .onSuccess(none -> listener.progress())
          .onFailure(this::end);
    }
  }

  private void answered(
      List<OutBatch<SpooledBatch>> batches, int epoch, AppendResults answer, String why) {
    context.emit(
        none -> {
          long now = nowMillis();
          for (int i = 0; i < batches.size(); i++) {
            core.answered(batches.get(i), epoch, answer.results().get(i), why, now);
          }
          poll();
        });
  }

  /** What there is to do beside sending. */
  private void follow() {
    if (core.state() == ProducerCore.State.OPENING) {
      if (!opening) {
        forgotten();
      }
    } else if (behind) {
      load();
    } else if (core.isIdle()) {
      if (window.run() < ownRun) {
        open(ownRun);
      } else {
        listener.idle();
      }
    }
  }

  private void load() {
    if (loading || window.isHalfFull()) {
      return;
    }
    loading = true;
    int run = window.run();
    disk.run(log -> window.load(log, run, LOAD_BYTES_MAX))
        .onFailure(this::end)
        .onSuccess(loaded -> loaded(run, loaded));
  }

  private void loaded(int run, SpoolLog.Loaded loaded) {
    loading = false;
    for (SpoolRecord.Frame frame : loaded.frames()) {
      add(frame, waiting.remove(frame.number()));
    }
    behind = loaded.nextRun() != 0;
    if (loaded.nextRun() > run && loaded.frames().isEmpty()) {
      if (core.isIdle()) {
        open(loaded.nextRun());
      }
      // Else it is asked again when something is acknowledged.
    } else {
      poll();
    }
  }

  /** The log has forgotten the sequences of the run that is being sent. */
  private void forgotten() {
    if (window.run() < ownRun && !resend) {
      end(
          new RefusedException(
              Refusal.UNKNOWN_PRODUCER,
              "the cluster has forgotten the producer of this spool, which was silent for too long:"
                  + " what the log has of the messages that an earlier run left in it is unknown;"
                  + " to send them all the same, perhaps twice, use"
                  + " ProducerOptions.setSpoolResend"));
    } else {
      open(window.run());
    }
  }

  /** Opens an epoch for a run; all runs before it are acknowledged. */
  private void open(int run) {
    SpoolRecord.Acked acked = acknowledged();
    noted = acked.frame();
    awaitEpoch(run, epochs.open(window.run(), run, acked, core.epoch()));
  }

  private void awaitEpoch(int run, Future<EpochOpener.Opened> epoch) {
    opening = true;
    core.reopen();
    epoch
        .onFailure(this::end)
        .onSuccess(
            opened -> {
              opening = false;
              if (!ended) {
                window.run(run);
                core.epochOpened(opened.producerId(), opened.epoch(), opened.lastSequences());
                poll();
              }
            });
  }

  private void end(Throwable failure) {
    if (ended) {
      return;
    }
    RefusedException why =
        failure instanceof RefusedException refused
            ? refused.refusal() == Refusal.PRODUCER_FENCED ? ProducerCore.fenced() : refused
            : new RefusedException(Refusal.UNAVAILABLE, "the producer failed: " + failure);
    stop(why);
    listener.ended(why);
  }

  /** Sends nothing more. What is not acknowledged fails, and stays in the spool. */
  void stop(RefusedException why) {
    if (ended) {
      return;
    }
    ended = true;
    opener.stop();
    directory.offLeader(onLeader);
    context.owner().cancelTimer(tick);
    timer.cancel();
    core.end(why);
    core.takeOutcomes().forEach(outcome -> outcome.tokens().get(0).failed(why));
    waiting
        .values()
        .forEach(frame -> frame.forEach(batch -> batch.forEach(t -> t.value().tryFail(why))));
    waiting.clear();
  }

  /** The last frame up to which all is acknowledged, and the messages up to there. */
  SpoolRecord.Acked acknowledged() {
    return new SpoolRecord.Acked(prefix.frame(), prefix.messages());
  }
}
