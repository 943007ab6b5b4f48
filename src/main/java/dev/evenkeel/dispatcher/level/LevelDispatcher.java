package dev.evenkeel.dispatcher.level;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.LocalBroker;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.Relay;
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
import dev.evenkeel.client.internal.consume.CountsDeaths;
import dev.evenkeel.client.internal.consume.DeadlyMessageException;
import dev.evenkeel.client.internal.consume.HoldsMessages;
import dev.evenkeel.client.internal.member.Consumers;
import dev.evenkeel.dispatcher.level.core.LevelAction;
import dev.evenkeel.dispatcher.level.core.LevelDispatch;
import dev.evenkeel.dispatcher.level.core.LevelFigures;
import dev.evenkeel.dispatcher.level.core.LevelPolicy;
import dev.evenkeel.dispatcher.level.core.LiveMember;
import dev.evenkeel.protocol.Crashes;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.tracing.TracingPolicy;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The level dispatcher of one group: a consumer that owns all shards of the group, and whose
 * handler hands each message on to a member, as {@link LevelDispatch} decides. All of it happens on
 * one context of its own; methods may be called from any thread.
 */
public final class LevelDispatcher implements ConsumerHandler, CountsDeaths, HoldsMessages {
  private static final Logger LOG = LoggerFactory.getLogger(LevelDispatcher.class);
  private static final long TICK_MILLIS = 20;
  private static final long REQUEST_MILLIS_MAX = 2_000;
  private static final long FIGURES_MILLIS = 200;

  /** How long the log is asked to record a death. The next one says the same and more. */
  private static final long RECORD_MILLIS_MAX = 60_000;

  private static final long RECORD_PAUSE_MILLIS = 500;

  /** Most messages of a group that are waiting or in the members' hands. */
  private static final int MESSAGES_MAX = 50_000;

  private static final int BYTES_MAX = 64 << 20;

  /** How long a hand-over to another dispatcher waits for the handlers of members. */
  private static final long LOCK_TIME_MILLIS = 5_000;

  /**
   * What a level dispatcher is opened with. If any of it changes, another one is opened.
   *
   * @param order what is kept in order: none, key or shard
   * @param retryDelaysMillis pauses before the second and all further attempts of a message; null:
   *     the default, if no member asks for any
   * @param filter of the messages that the members want; null: all of them
   */
  public record Wanted(
      Set<String> topics,
      GroupPolicy policy,
      String order,
      List<Long> retryDelaysMillis,
      List<String> filter) {}

  /** A member's handler failed with this error text. */
  private static final class HandlerFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    HandlerFailure(String error) {
      super(error, null, false, false);
    }

    @Override
    public String toString() {
      return getMessage();
    }
  }

  private final Link link;
  private final ClusterDirectory directory;
  private final LeaderClient leaders;
  private final String group;
  private final ConsumerOptions options;
  private final String instance;
  private final LevelDispatch dispatch;
  private final ContextInternal context;
  private final java.util.function.Consumer<LevelDispatcher> ended;

  /**
   * The node at which a run of a member listens. Not of runs in an application with a Vert.x of its
   * own, and of clients that do not say it: these are asked by their own address.
   */
  private Map<String, String> nodes = Map.of();

  /** Of the shards that were assigned. */
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
   * Holds the group as {@code dispatcher@NODE}.
   *
   * @param instance this run
   * @param ended called, on any thread, when it has ended, unless it was abandoned
   */
  public LevelDispatcher(
      Link link,
      ClusterDirectory directory,
      String group,
      String node,
      Wanted wanted,
      String instance,
      java.util.function.Consumer<LevelDispatcher> ended) {
    this.link = link;
    this.directory = directory;
    leaders = new LeaderClient(link, directory);
    this.group = group;
    this.instance = instance;
    this.ended = ended;
    options =
        new ConsumerOptions()
            .setGroup(group)
            .setMember(Names.DISPATCHER_HOLDER + node)
            .setTopics(List.copyOf(wanted.topics()))
            .setOrder(ConsumerOptions.Order.valueOf(wanted.order().toUpperCase(Locale.ROOT)))
            .setRetryDelaysMillis(wanted.retryDelaysMillis())
            .setFilter(
                wanted.filter() == null ? MessageFilter.ALL : MessageFilter.of(wanted.filter()))
            .setParallel(MESSAGES_MAX)
            .setHandOutMessages(MESSAGES_MAX)
            .setPendingMessagesMax(MESSAGES_MAX)
            .setPendingBytesMax(BYTES_MAX)
            // The member that handles a message makes its span.
            .setTracing(TracingPolicy.IGNORE)
            .setLockTimeMillis(LOCK_TIME_MILLIS)
            // A later dispatcher learns from the members which messages they have in hand.
            .setHoldFailed(true)
            .setBreaker(false);
    dispatch = new LevelDispatch(group, node, LevelPolicy.of(wanted.policy()));
    context = ((VertxInternal) link.vertx()).createEventLoopContext();
  }

  public void start() {
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
  public void begin(long term) {
    onContext(
        () -> {
          LOG.info("level dispatcher of group {} with term {}", group, term);
          dispatch.begin(term, now());
          pump();
        });
  }

  public void members(List<LiveMember> members) {
    onContext(
        () -> {
          nodes = new HashMap<>();
          members.forEach(each -> nodes.put(each.instance(), each.node()));
          dispatch.members(members, now());
          pump();
        });
  }

  /** A run of a member leaves as one that has died of one of these messages. */
  public void died(String instance, List<MessageId> diedOf) {
    onContext(() -> dispatch.died(instance, diedOf));
  }

  /**
   * Answers a report of a member.
   *
   * @param user whose program has sent it; null: unknown
   */
  public Future<Buffer> reported(Report report, String user) {
    Promise<Buffer> answer = Promise.promise();
    onContext(
        () -> {
          if (dispatch.ofAnother(report.instance(), user)) {
            answer.complete(
                Frames.refusal(Refusal.FORBIDDEN, "this run of a member is another user's"));
            return;
          }
          LevelDispatch.Heard heard = dispatch.reported(report, now());
          pumpSoon();
          answer.complete(
              heard.permission() != null
                  ? Frames.answer(heard.permission().encode().view())
                  : Frames.refusal(heard.refusal(), "group " + group));
        });
    return answer.future();
  }

  /** As of a moment ago; null before there are any. */
  public LevelFigures figures() {
    return figures;
  }

  /** Stops handing out. What members have in hand may end before the shards are released. */
  public void close() {
    onContext(
        () -> {
          // First the consumer: a message that is given back while it drains is no failure.
          closeConsumer().onComplete(closed -> ended.accept(this));
          dispatch.close();
          run();
        });
  }

  /** Stops handing out, and waits for nothing: there is another dispatcher. */
  public void abandon() {
    onContext(
        () -> {
          closeConsumer();
          dispatch.close();
          dispatch.withdrawAll();
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
    dispatch.withdrawAll();
    run();
  }

  // The consumer's handler

  @Override
  public Future<Void> handle(Delivery delivery) {
    Shard shard = shard(delivery.topic(), delivery.shard());
    Promise<Void> done = Promise.promise();
    dispatch.delivery(
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
  public void diedBefore(ShardContext shard, Shard id, Crashes crashes) {
    // A topic may have been deleted, and made again under its name.
    topicIds.put(shard.topic(), id.topicId());
    dispatch.assigned(id, crashes);
  }

  @Override
  public Future<Void> onAssign(ShardContext shard, Buffer state) {
    generations.put(shard(shard.topic(), shard.shard()), shard.generation());
    return Future.succeededFuture();
  }

  @Override
  public void onDraining(ShardContext shard) {
    dispatch.draining(shard(shard.topic(), shard.shard()));
    pumpSoon();
  }

  @Override
  public void paused(ShardContext shard, boolean on) {
    dispatch.paused(shard(shard.topic(), shard.shard()), on);
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
    dispatch.withdrawn(shard);
    pumpSoon();
  }

  @Override
  public void onCommitted(String topic, int shard, long offset) {
    if (topicIds.containsKey(topic)) {
      // Else it is released before it was assigned.
      dispatch.committed(shard(topic, shard), offset);
    }
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
    return new Shard(topicIds.get(topic), shard);
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
    return MonotonicClock.millis();
  }

  private void tick() {
    if (ticker < 0) {
      return;
    }
    long now = now();
    LocalBroker broker = LocalBroker.of(link.vertx());
    dispatch.paused(broker != null && broker.pauses().isPaused(group));
    dispatch.tick(now);
    pump();
    if (now >= figuresMillis) {
      figures = dispatch.figures(now);
      long members = figures.members().size();
      // The figures compare each pair of members, which takes a while for many members.
      figuresMillis = now + FIGURES_MILLIS + members * members / 500;
    }
  }

  /**
   * Pumps after the present task, so that everything that came meanwhile is handed out together.
   */
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
    dispatch.handOut(now());
    run();
  }

  private void run() {
    LevelAction action;
    while ((action = dispatch.poll()) != null) {
      perform(action);
    }
  }

  @SuppressWarnings("unchecked")
  private void perform(LevelAction action) {
    if (action instanceof LevelAction.Finished finished) {
      ((Promise<Void>) finished.ticket()).tryComplete();
    } else if (action instanceof LevelAction.Failed failed) {
      ((Promise<Void>) failed.ticket()).tryFail(new HandlerFailure(failed.error()));
    } else if (action instanceof LevelAction.Deadly deadly) {
      ((Promise<Void>) deadly.ticket()).tryFail(new DeadlyMessageException(deadly.deaths()));
    } else if (action instanceof LevelAction.RecordDeaths record) {
      record(record);
    } else if (action instanceof LevelAction.GivenBack back) {
      ((Promise<Void>) back.ticket())
          .tryFail(new GivenBackException("its shard gets another owner, or is paused"));
    } else if (action instanceof LevelAction.SendStart start) {
      ask(start.instance(), Op.LEVEL_START, start.body().encode())
          .map(SessionState::decode)
          .onComplete(
              state -> dispatch.started(start, state, now()),
              failure -> dispatch.startFailed(start, refusal(failure), now()));
    } else if (action instanceof LevelAction.SendHandOut sent) {
      ask(sent.instance(), Op.LEVEL_HAND_OUT, sent.body().encode())
          .map(answer -> new ByteReader(answer).i64())
          .onComplete(
              count -> dispatch.received(sent, count, now()),
              failure -> dispatch.handOutFailed(sent, refusal(failure), now()));
    } else if (action instanceof LevelAction.Restored restored) {
      LOG.info(
          "group {}, term {}: the counts of {} go on, {} join anew",
          group,
          restored.term(),
          restored.goOn(),
          restored.anew());
    } else if (action instanceof LevelAction.SetAside aside) {
      LOG.warn(
          "group {}: member {} is set aside, because it has finished none of {} messages in its"
              + " hands for {} ms while others waited for it; they are handed out again",
          group,
          aside.member(),
          aside.inHand(),
          aside.stallMillis());
    } else {
      throw new AssertionError(action);
    }
  }

  /** Tells the log of deaths, for the dispatchers after this one, which may be on other nodes. */
  private void record(LevelAction.RecordDeaths deaths) {
    ClusterView view = directory.current();
    if (view == null || view.featureLevel() < FeatureLevel.CRASHES) {
      return;
    }
    Shard shard = deaths.shard();
    leaders
        .submit(
            shard,
            new DataCommand.RecordOutcomes(group, shard, deaths.epoch(), List.of(deaths.died())),
            REQUEST_MILLIS_MAX,
            LeaderClient.Retry.within(RECORD_MILLIS_MAX, RECORD_PAUSE_MILLIS, () -> stopped))
        .onFailure(
            failure ->
                LOG.info(
                    "group {}: deaths of members on shard {} cannot be recorded: {}",
                    group,
                    shard,
                    failure.toString()));
  }

  /**
   * Asks a member. The answer comes on our context, and what follows from it is handed out after
   * it.
   */
  private Future<ByteBuffer> ask(String member, Op op, Bytes body) {
    Promise<ByteBuffer> answered = Promise.promise();
    String address = Addresses.level(member);
    Buffer request = Frames.request(op, body);
    String node = nodes.get(member);
    (node == null
            ? link.request(address, request, REQUEST_MILLIS_MAX)
            : Relay.ask(link.vertx(), node, address, request, REQUEST_MILLIS_MAX))
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
