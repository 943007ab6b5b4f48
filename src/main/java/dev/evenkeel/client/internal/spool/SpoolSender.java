package dev.evenkeel.client.internal.spool;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Producer.Position;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.internal.produce.BatchSender;
import dev.evenkeel.client.internal.produce.EpochOpener;
import dev.evenkeel.client.internal.produce.core.BatchResult;
import dev.evenkeel.client.internal.produce.core.CoreSettings;
import dev.evenkeel.client.internal.produce.core.ProducerCore;
import dev.evenkeel.client.internal.spool.log.AckPrefix;
import dev.evenkeel.client.internal.spool.log.SpoolIntake.Token;
import dev.evenkeel.client.internal.spool.log.SpoolLog;
import dev.evenkeel.client.internal.spool.log.SpoolRecord;
import dev.evenkeel.client.internal.spool.log.SpoolState;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import io.vertx.core.Future;
import io.vertx.core.Promise;
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
final class SpoolSender extends BatchSender<SpoolSender.SentBatch> {
  /** How often the spool records what is acknowledged. */
  private static final long NOTE_MILLIS = 100;

  private static final long LOAD_BYTES_MAX = 4 << 20;

  /**
   * A batch of a frame that is being sent.
   *
   * @param endSequence after its last message, within its run
   * @param tokens of the messages whose senders wait
   */
  record SentBatch(long frame, int shard, long endSequence, List<Token<Promise<Position>>> tokens) {
    void acked(long baseOffset) {
      for (Token<Promise<Position>> token : tokens) {
        long offset =
            baseOffset == Result.OFFSET_FORGOTTEN ? baseOffset : baseOffset + token.place();
        token.value().tryComplete(new Position(shard, offset));
      }
    }

    void failed(RefusedException why) {
      tokens.forEach(token -> token.value().tryFail(why));
    }
  }

  private final SpoolEpochs epochs;
  private final SpoolDisk disk;
  private final SpooledProducer producer;
  private final SpoolState.Identity identity;
  private final SpoolWindow window;
  private final AckPrefix prefix;
  private final Map<Long, List<List<Token<Promise<Position>>>>> waiting = new HashMap<>();
  private final int ownRun;
  private final boolean resend;

  /** The epoch in whose opening the program before ended, or null. */
  private final SpoolRecord.Opening interrupted;

  private boolean behind;
  private boolean loading;
  private boolean noteDue;
  private long noted;
  private long reported;
  private boolean ended;

  private volatile long ackedMessages;
  private volatile long oldestMillis = -1;

  SpoolSender(
      Link link,
      ClusterDirectory directory,
      EpochOpener opener,
      SpoolDisk disk,
      ProducerOptions options,
      SpoolStart.Begun begun,
      SpooledProducer producer) {
    super(
        link,
        directory,
        opener,
        begun.state().identity().topic(),
        new ProducerCore<>(
            CoreSettings.of(options),
            null,
            begun.state().identity().producerId(),
            begun.state().epoch(),
            () -> ThreadLocalRandom.current().nextDouble()),
        REQUEST_TIMEOUT_MILLIS);
    SpoolState state = begun.state();
    epochs = new SpoolEpochs(opener, disk, state);
    this.disk = disk;
    this.producer = producer;
    window = begun.window();
    behind = begun.behind();
    identity = state.identity();
    ownRun = state.run();
    resend = options.isSpoolResend();
    interrupted = state.opening();
    prefix = new AckPrefix(state.ackedFrame(), state.ackedMessages());
    noted = state.ackedFrame();
    ackedMessages = state.ackedMessages();
  }

  /** Starts sending. On the context. */
  void start() {
    begin();
    if (interrupted != null) {
      // The epoch before it may be fenced.
      open(interrupted.run(), epochs.resume(window.run(), interrupted));
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
  void offer(SpoolLog log, SpoolRecord.Frame frame, List<List<Token<Promise<Position>>>> tokens) {
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

  private void add(SpoolRecord.Frame frame, List<List<Token<Promise<Position>>>> tokens) {
    prefix.add(frame);
    for (int i = 0; i < frame.items().size(); i++) {
      SpoolRecord.Item item = frame.items().get(i);
      long first = item.batch().firstSequence();
      long end = first + item.batch().count();
      long base = epochs.base(item.shard());
      SentBatch sent =
          new SentBatch(
              frame.number(), item.shard(), end, tokens == null ? List.of() : tokens.get(i));
      if (core.endedBy() != null) {
        sent.failed(core.endedBy());
      } else if (end <= base) {
        acked(sent, item.batch().count(), item.batch().length(), Result.OFFSET_FORGOTTEN);
      } else {
        item.batch().stamped(core.producerId(), core.epoch(), first - base);
        epochs.sending(item.shard(), first);
        core.addStamped(item.shard(), item.batch(), item.dueMillis(), sent);
      }
    }
  }

  @Override
  protected void report(List<BatchResult<SentBatch>> outcomes) {
    if (ended) {
      return;
    }
    for (BatchResult<SentBatch> outcome : outcomes) {
      SentBatch sent = outcome.tokens().get(0);
      if (outcome.refused() == null) {
        acked(
            sent,
            outcome.batch().batch.count(),
            outcome.batch().batch.length(),
            outcome.baseOffset());
      } else {
        sent.failed(outcome.refused());
        core.end(outcome.refused());
      }
    }
    if (core.state() == ProducerCore.State.ENDED) {
      return;
    }
    oldestMillis = prefix.oldestMillis();
    if (prefix.frame() > noted && !noteDue) {
      noteDue = true;
      context.owner().setTimer(NOTE_MILLIS, id -> note());
    }
    if (prefix.frame() > reported || !outcomes.isEmpty()) {
      reported = prefix.frame();
      producer.progress();
    }
  }

  @Override
  protected void topicSeen(TopicInfo info) {
    if (info.id() == identity.topicId()) {
      super.topicSeen(info);
      producer.shards(info.shards());
    } else {
      core.end(
          new RefusedException(
              Refusal.UNKNOWN_TOPIC, "the topic was deleted, and there is another of its name"));
    }
  }

  private void acked(SentBatch sent, int messages, int bytes, long baseOffset) {
    window.release(bytes);
    prefix.acked(sent.frame());
    epochs.taken(sent.shard(), sent.endSequence() - messages, sent.endSequence());
    ackedMessages = ackedMessages + messages;
    sent.acked(baseOffset);
  }

  /** Records in the spool what is acknowledged. */
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
          .onSuccess(none -> producer.progress())
          .onFailure(this::end);
    }
  }

  @Override
  protected void follow() {
    if (behind) {
      load();
    } else if (core.isIdle()) {
      if (window.run() < ownRun) {
        open(ownRun);
      } else {
        producer.idle();
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
  @Override
  protected void reopen() {
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
    open(run, epochs.open(window.run(), run, acked, core.epoch()));
  }

  private void open(int run, Future<EpochOpener.Opened> epoch) {
    awaitEpoch(epoch, () -> window.run(run));
  }

  private void end(Throwable failure) {
    if (!ended) {
      ended(reason(failure));
    }
  }

  @Override
  protected void ended(RefusedException why) {
    halt(why);
    producer.ended(why);
  }

  /** Stops sending. Messages that are not acknowledged fail, and stay in the spool. */
  void halt(RefusedException why) {
    if (ended) {
      return;
    }
    ended = true;
    stop(why);
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
