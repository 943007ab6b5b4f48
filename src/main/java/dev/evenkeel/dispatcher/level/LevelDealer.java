package dev.evenkeel.dispatcher.level;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.level.HandOut;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.bus.level.Report;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.client.internal.member.Consumers;
import dev.evenkeel.dispatcher.level.core.LevelAction;
import dev.evenkeel.dispatcher.level.core.LevelDispatch;
import dev.evenkeel.dispatcher.level.core.LevelFigures;
import dev.evenkeel.dispatcher.level.core.LevelPolicy;
import dev.evenkeel.dispatcher.level.core.LiveMember;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The level dispatcher of one group: a consumer that owns all shards of the group, and whose
 * handler hands each message on to a member. All of it happens on one context of its own; methods
 * may be called from any thread.
 */
final class LevelDealer implements ConsumerHandler {
  private static final Logger LOG = LoggerFactory.getLogger(LevelDealer.class);
  private static final long TICK_MILLIS = 20;
  private static final long REQUEST_MILLIS_MAX = 2_000;
  private static final long FIGURES_MILLIS = 200;

  private final Link link;
  private final ClusterDirectory directory;
  private final String group;
  private final ConsumerOptions options;
  private final String instance;
  private final LevelDispatch book;
  private final ContextInternal context;
  private final java.util.function.Consumer<LevelDealer> ended;
  private final Map<String, Integer> topicIds = new HashMap<>();

  /** Of the leases: how often the group was reset on a shard. */
  private final Map<Shard, Long> generations = new HashMap<>();

  private Consumer consumer;
  private long ticker = -1;
  private long figuresMillis;
  private boolean pumping;
  private boolean stopped;

  /** Read from any thread. */
  private volatile LevelFigures figures;

  /**
   * @param ended is told, on any thread, when it has ended, unless it was abandoned
   */
  LevelDealer(
      Link link,
      ClusterDirectory directory,
      String group,
      String node,
      ConsumerOptions options,
      String instance,
      LevelPolicy policy,
      java.util.function.Consumer<LevelDealer> ended) {
    this.link = link;
    this.directory = directory;
    this.group = group;
    this.options = options;
    this.instance = instance;
    this.ended = ended;
    book = new LevelDispatch(group, node, policy);
    context = ((VertxInternal) link.vertx()).createEventLoopContext();
  }

  void start() {
    onContext(
        () -> {
          ticker = link.vertx().setPeriodic(TICK_MILLIS, id -> onContext(this::tick));
          Consumers.start(link, directory, options, this, instance)
              .onComplete(started -> onContext(() -> begun(started.result(), started.cause())));
        });
  }

  private void begun(Consumer started, Throwable failure) {
    if (failure != null) {
      if (!stopped) {
        LOG.warn("the level dispatcher of group {} cannot start: {}", group, failure.toString());
        end();
        ended.accept(this);
      }
      return;
    }
    consumer = started;
    consumer.onEnd(
        why ->
            onContext(
                () -> {
                  if (!stopped) {
                    LOG.info("the level dispatcher of group {} has ended: {}", group, why);
                    end();
                    ended.accept(this);
                  }
                }));
    if (stopped) {
      consumer.close();
    }
  }

  /** The group's lease is held at this term. */
  void begin(long term) {
    onContext(
        () -> {
          LOG.info("level dispatcher of group {} with term {}", group, term);
          book.begin(term, now());
          pump();
        });
  }

  void members(List<LiveMember> members) {
    onContext(
        () -> {
          book.members(members, now());
          pump();
        });
  }

  /** Answers a report of a member. */
  Future<Buffer> reported(Report report) {
    Promise<Buffer> answer = Promise.promise();
    onContext(
        () -> {
          LevelDispatch.Heard heard = book.reported(report, now());
          pumpSoon();
          answer.complete(
              heard.permission() != null
                  ? Frames.answer(heard.permission().encode().view())
                  : Frames.refusal(heard.refusal(), "group " + group));
        });
    return answer.future();
  }

  /** As of a moment ago; null before there are any. */
  LevelFigures figures() {
    return figures;
  }

  /** Deals no more; what is in the members' hands may end before the shards are released. */
  void close() {
    onContext(
        () -> {
          // First the consumer: what is given back while it drains is no failure.
          closeConsumer().onComplete(closed -> ended.accept(this));
          book.close();
          run();
        });
  }

  /** Deals no more and awaits nothing: there is another dispatcher. */
  void abandon() {
    onContext(
        () -> {
          closeConsumer();
          book.close();
          book.withdrawAll();
          run();
        });
  }

  private Future<Void> closeConsumer() {
    stopped = true;
    if (consumer == null) {
      end();
      return Future.succeededFuture();
    }
    return consumer.close().onComplete(closed -> onContext(this::end));
  }

  private void end() {
    stopped = true;
    if (ticker >= 0) {
      link.vertx().cancelTimer(ticker);
      ticker = -1;
    }
    book.withdrawAll();
    run();
  }

  // The consumer's handler

  @Override
  public Future<Void> handle(Delivery delivery) {
    Shard shard = shard(delivery.topic(), delivery.shard());
    Promise<Void> done = Promise.promise();
    book.delivery(
        delivery.topic(),
        new HandOut.Entry(
            new MessageId(shard, delivery.offset(), generations.getOrDefault(shard, 0L)),
            delivery.epoch(),
            delivery.attempt(),
            delivery.message()),
        done);
    pumpSoon();
    return done.future();
  }

  @Override
  public Future<Void> onAssign(ShardContext shard, Buffer state) {
    // A topic may have been deleted, and made again under its name.
    topicIds.remove(shard.topic());
    generations.put(shard(shard.topic(), shard.shard()), shard.generation());
    return Future.succeededFuture();
  }

  @Override
  public void onDraining(ShardContext shard) {
    book.draining(shard(shard.topic(), shard.shard()));
    pumpSoon();
  }

  @Override
  public Future<Buffer> onRelease(ShardContext shard) {
    withdrawn(shard);
    return Future.succeededFuture();
  }

  @Override
  public void onLost(ShardContext shard) {
    withdrawn(shard);
  }

  private void withdrawn(ShardContext of) {
    Shard shard = shard(of.topic(), of.shard());
    generations.remove(shard);
    book.withdrawn(shard);
    pumpSoon();
  }

  @Override
  public void onCommitted(String topic, int shard, long offset) {
    book.committed(shard(topic, shard), offset);
  }

  @Override
  public boolean keepsState() {
    return false;
  }

  @Override
  public boolean givesState() {
    return false;
  }

  private Shard shard(String topic, int shard) {
    return new Shard(topicIds.computeIfAbsent(topic, this::topicId), shard);
  }

  private int topicId(String topic) {
    ClusterView view = directory.current();
    if (view != null) {
      for (TopicInfo each : view.topics()) {
        if (each.name().equals(topic)) {
          return each.id();
        }
      }
    }
    throw new RefusedException(Refusal.UNKNOWN_TOPIC, "topic '" + topic + "' is not known now");
  }

  // Actions

  private void onContext(Runnable task) {
    if (context.isRunningOnContext()) {
      task.run();
    } else {
      context.runOnContext(ignored -> task.run());
    }
  }

  private static long now() {
    return System.nanoTime() / 1_000_000;
  }

  private void tick() {
    if (ticker < 0) {
      return;
    }
    long now = now();
    book.tick(now);
    pump();
    if (now >= figuresMillis) {
      figures = book.figures(now);
      long members = figures.members().size();
      // Looking at each pair takes a while where there are many.
      figuresMillis = now + FIGURES_MILLIS + members * members / 500;
    }
  }

  /** After the event loop had its turn: what came meanwhile is dealt together. */
  private void pumpSoon() {
    if (!pumping) {
      pumping = true;
      context.runOnContext(
          ignored -> {
            pumping = false;
            pump();
          });
    }
  }

  private void pump() {
    book.deal(now());
    run();
  }

  private void run() {
    LevelAction action;
    while ((action = book.poll()) != null) {
      perform(action);
    }
  }

  @SuppressWarnings("unchecked")
  private void perform(LevelAction action) {
    if (action instanceof LevelAction.Finished finished) {
      ((Promise<Void>) finished.ticket()).tryComplete();
    } else if (action instanceof LevelAction.Failed failed) {
      ((Promise<Void>) failed.ticket()).tryFail(new HandlerFailure(failed.error()));
    } else if (action instanceof LevelAction.GivenBack back) {
      ((Promise<Void>) back.ticket()).tryFail(new GivenBackException("its shard goes elsewhere"));
    } else if (action instanceof LevelAction.SendStart collect) {
      ask(collect.instance(), Op.LEVEL_START, collect.body().encode())
          .map(SessionState::decode)
          .onComplete(
              place -> book.placed(collect, place, now()),
              failure -> book.collectFailed(collect, refusal(failure), now()));
    } else if (action instanceof LevelAction.SendHandOut deal) {
      ask(deal.instance(), Op.LEVEL_HAND_OUT, deal.body().encode())
          .map(answer -> new ByteReader(answer).i64())
          .onComplete(
              count -> book.received(deal, count, now()),
              failure -> book.dealFailed(deal, refusal(failure), now()));
    }
  }

  /** Asks a member. The answer comes on our context, and what follows from it is dealt after it. */
  private Future<ByteBuffer> ask(String member, Op op, Bytes body) {
    Promise<ByteBuffer> answered = Promise.promise();
    link.request(Addresses.level(member), Frames.request(op, body), REQUEST_MILLIS_MAX)
        .map(Frames::answerBody)
        .onComplete(
            answer ->
                onContext(
                    () -> {
                      answered.handle(answer);
                      pumpSoon();
                    }));
    return answered.future();
  }

  private static Refusal refusal(Throwable failure) {
    return failure instanceof RefusedException refused ? refused.refusal() : Refusal.INVALID;
  }

  @Override
  public String toString() {
    return options.getMember() + " of " + group;
  }
}
