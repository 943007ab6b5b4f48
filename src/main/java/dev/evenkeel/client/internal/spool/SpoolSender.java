package dev.evenkeel.client.internal.spool;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Producer.Position;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.Router;
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
import dev.evenkeel.protocol.wire.Batch;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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

  /** Pause before a frame is moved again that could not be moved. */
  private static final long AGAIN_MILLIS = 200;

  /**
   * A batch of a frame that is being sent.
   *
   * @param place of its first message in the frame
   * @param dueMillis when it gets its offsets; 0: at once
   * @param endSequence after its last message, within its run
   * @param tokens of the messages whose senders wait
   */
  record SentBatch(
      long frame,
      int place,
      int shard,
      long dueMillis,
      long endSequence,
      List<Token<Promise<Position>>> tokens) {
    void acked(long baseOffset) {
      for (Token<Promise<Position>> token : tokens) {
        token
            .value()
            .tryComplete(BatchResult.position(shard, dueMillis, baseOffset, token.place()));
      }
    }

    void failed(RefusedException why) {
      tokens.forEach(token -> token.value().tryFail(why));
    }
  }

  /**
   * A batch that is not on its way.
   *
   * @param untaken its shard has surely not taken it
   */
  private record Left(SentBatch sent, Batch batch, long dueMillis, boolean untaken) {}

  /** The batches of a frame. */
  private record Held(long frame, List<Left> ofFormer, List<Left> ofOpen) {
    /** The topic has other shards now, from {@code first} on. */
    void opened(int first) {
      ofOpen.removeIf(item -> item.sent.shard() < first && ofFormer.add(item));
    }
  }

  private final ClusterDirectory directory;
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

  /** As it is now. It may be gone by the time that sending starts. */
  private TopicInfo topic;

  private final SpoolReroute reroute;

  /** Batches that former shards have refused, by frame. */
  private final TreeMap<Long, List<Left>> refused = new TreeMap<>();

  /** Frames behind them, which wait. */
  private final ArrayDeque<Held> held = new ArrayDeque<>();

  private boolean moving;

  /** The run in whose epoch nobody but this program has sent anything. */
  private int unsentRun;

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
      Router router,
      TopicInfo topic,
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
    this.directory = directory;
    resend = options.isSpoolResend();
    reroute = new SpoolReroute(link, directory, state, resend, router);
    unsentRun = state.openRun() == state.run() ? state.run() : 0;
    epochs = new SpoolEpochs(opener, disk, state);
    this.disk = disk;
    this.producer = producer;
    this.topic = topic;
    window = begun.window();
    behind = begun.behind();
    identity = state.identity();
    ownRun = state.run();
    interrupted = state.opening();
    prefix = new AckPrefix(state.ackedFrame(), state.ackedMessages());
    noted = state.ackedFrame();
    ackedMessages = state.ackedMessages();
  }

  /** Starts sending. On the context. */
  void start() {
    begin(topic);
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
    List<Left> ofFormer = new ArrayList<>();
    List<Left> ofOpen = new ArrayList<>();
    int place = 0;
    for (int i = 0; i < frame.items().size(); i++) {
      SpoolRecord.Item item = frame.items().get(i);
      long first = item.batch().firstSequence();
      long end = first + item.batch().count();
      long base = epochs.base(item.shard());
      SentBatch sent =
          new SentBatch(
              frame.number(),
              place,
              item.shard(),
              item.dueMillis(),
              end,
              tokens == null ? List.of() : tokens.get(i));
      place += item.batch().count();
      if (core.endedBy() != null) {
        sent.failed(core.endedBy());
      } else if (end <= base) {
        acked(sent, item.batch().count(), item.batch().length(), Result.OFFSET_FORGOTTEN);
      } else {
        epochs.sending(item.shard(), first);
        boolean open = item.shard() >= topic.open().first();
        boolean untaken = unsentRun == window.run();
        (open ? ofOpen : ofFormer).add(new Left(sent, item.batch(), item.dueMillis(), untaken));
      }
    }
    if (ofFormer.isEmpty() && !reroutes() && haveTheirShards(ofOpen)) {
      ofOpen.forEach(this::send);
    } else {
      // What a former shard did not take must be at its place before later messages are sent.
      held.add(new Held(frame.number(), ofFormer, ofOpen));
    }
  }

  /** Whether they can be sent. While former shards have not answered, new ones get nothing. */
  private boolean haveTheirShards(List<Left> items) {
    return items.stream().allMatch(item -> core.hasShard(item.sent.shard()));
  }

  private void send(Left item) {
    stamp(item);
    core.addStamped(item.sent.shard(), item.batch, item.dueMillis, item.sent);
  }

  private void stamp(Left item) {
    long first = item.sent.endSequence() - item.batch.count();
    item.batch.stamped(core.producerId(), core.epoch(), first - epochs.base(item.sent.shard()));
  }

  // ---- Other shards

  /** Whether anything waits that former shards may not have taken. */
  private boolean reroutes() {
    return moving || !refused.isEmpty() || !held.isEmpty();
  }

  /** Moves the next frame, once nothing is on its way any more. */
  private void rerouteNext() {
    if (moving || ended || !core.isIdle() || core.state() != ProducerCore.State.RUNNING) {
      return;
    }
    if (!refused.isEmpty()) {
      Map.Entry<Long, List<Left>> first = refused.firstEntry();
      reroute(first.getKey(), first.getValue(), () -> refused.remove(first.getKey()));
      return;
    }
    Held next = held.peek();
    if (next == null) {
      return;
    }
    next.opened(topic.open().first());
    if (!next.ofFormer.isEmpty()) {
      reroute(next.frame, next.ofFormer, next.ofFormer::clear);
      return;
    }
    if (haveTheirShards(next.ofOpen)) {
      held.poll();
      next.ofOpen.forEach(this::send);
      poll();
    }
  }

  private void reroute(long frame, List<Left> items, Runnable done) {
    moving = true;
    items.sort(Comparator.comparingInt(item -> item.sent.place()));
    items.forEach(this::stamp);
    List<SpoolReroute.Item> asked =
        items.stream()
            .map(
                each ->
                    new SpoolReroute.Item(
                        each.sent.shard(),
                        each.batch,
                        each.sent.place(),
                        each.dueMillis,
                        each.untaken))
            .toList();
    reroute
        .move(topic, frame, asked)
        .onComplete(
            moved ->
                context.runOnContext(
                    none -> {
                      moving = false;
                      if (ended) {
                        return;
                      }
                      if (moved.succeeded()) {
                        List<Left> over = List.copyOf(items);
                        done.run();
                        for (int i = 0; i < over.size(); i++) {
                          moved(over.get(i), moved.result().get(i));
                        }
                        report(List.of());
                        poll();
                      } else {
                        rerouteFailed(RefusedException.of(moved.cause()));
                      }
                    }));
  }

  private void rerouteFailed(RefusedException why) {
    boolean again =
        switch (why.refusal()) {
          // The topic has got other shards, or is gone: the view says so.
          case SEALED, UNKNOWN_SHARD, UNKNOWN_TOPIC -> true;
          default -> why.refusal().retriable() && !(why instanceof SpoolReroute.Unknown);
        };
    if (!again) {
      end(why);
      return;
    }
    directory
        .refresh()
        .onSuccess(
            view -> {
              if (view.caughtUp() && view.topic(identity.topic()) == null) {
                context.runOnContext(none -> end(deleted("")));
              }
            });
    context.owner().setTimer(AGAIN_MILLIS, id -> poll());
  }

  private static RefusedException deleted(String more) {
    return new RefusedException(
        Refusal.UNKNOWN_TOPIC,
        "the topic of the spool was deleted%s: what is left in the spool belongs to the deleted one;"
            + " to drop it, use %s",
        more,
        ProducerOptions.setter("spoolRestart"));
  }

  private void moved(Left item, SpoolReroute.Moved to) {
    int messages = item.batch.count();
    if (to.shards() == null) {
      acked(item.sent, messages, item.batch.length(), to.offset());
      return;
    }
    for (Token<Promise<Position>> token : item.sent.tokens()) {
      int shard = to.shards()[token.place()];
      token.value().tryComplete(new Position(shard, Result.OFFSET_FORGOTTEN));
    }
    window.release(item.batch.length());
    prefix.acked(item.sent.frame());
    ackedMessages = ackedMessages + messages;
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
      } else if (outcome.refused().refusal() == Refusal.SEALED
          || resend && outcome.refused().refusal() == Refusal.INDETERMINATE) {
        refused
            .computeIfAbsent(sent.frame(), none -> new ArrayList<>())
            .add(new Left(sent, outcome.batch().batch, outcome.batch().dueMillis, true));
      } else {
        RefusedException why =
            switch (outcome.refused().refusal()) {
              case INDETERMINATE -> new SpoolReroute.Unknown(sent.shard);
              case UNKNOWN_TOPIC -> deleted("");
              default -> outcome.refused();
            };
        sent.failed(why);
        core.end(why);
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
      boolean others = topic.open().first() < info.open().first();
      topic = info;
      super.topicSeen(info);
      if (others) {
        context.runOnContext(none -> producer.shards(info.open()));
      }
    } else {
      core.end(deleted(", and there is another of its name"));
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
    if (reroutes()) {
      rerouteNext();
    } else if (behind) {
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
      if (core.isIdle() && !reroutes()) {
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
      end(SpoolReroute.forgottenProducer());
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
    awaitEpoch(
        epoch,
        () -> {
          if (run != window.run()) {
            unsentRun = run;
          }
          window.run(run);
        });
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
    refused.values().forEach(frame -> frame.forEach(item -> item.sent.failed(why)));
    for (Held frame : held) {
      frame.ofFormer.forEach(item -> item.sent.failed(why));
      frame.ofOpen.forEach(item -> item.sent.failed(why));
    }
    refused.clear();
    held.clear();
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
