package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.DedupTally;
import dev.evenkeel.bus.Figures;
import dev.evenkeel.bus.FlowTally;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.WakeTimer;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.internal.admission.DedupKeys;
import dev.evenkeel.client.internal.admission.RateGate;
import dev.evenkeel.client.internal.admission.RepetitionWatch;
import dev.evenkeel.client.internal.broadcast.StoredPositions;
import dev.evenkeel.client.internal.consume.Admission;
import dev.evenkeel.client.internal.consume.ConsumerAction;
import dev.evenkeel.client.internal.consume.ConsumerCore;
import dev.evenkeel.client.internal.consume.MessageSource;
import dev.evenkeel.client.internal.consume.Task;
import dev.evenkeel.client.internal.level.LevelWork;
import dev.evenkeel.dedup.Repetition;
import dev.evenkeel.dedup.SharedAutomata;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * A consumer at work: carries out what {@link ConsumerCore} wants and tells it what came of it. All
 * of it happens on one context.
 *
 * <p>In mode level it owns no shards: its messages are dealt to it, and come from {@link LevelWork}
 * instead.
 */
final class ConsumerShell implements Consumer, HeartbeatLoop.Listener, ActionRunner.Surroundings {
  private static final Logger LOG = LoggerFactory.getLogger(Consumer.class);

  /** How often what waits for its time is looked at. */
  private static final long TICK_MILLIS = 50;

  private static final long START_MILLIS_MAX = 60_000;

  /** How long a dispatcher is looked for that forgets a topic, once its shards are released. */
  private static final long UNSUBSCRIBE_MILLIS = 30_000;

  /**
   * Whoever pushes shall find somebody who listens, so the first heartbeat waits for that, but not
   * longer: a part of the map of addresses may lie with a lost node until the cluster has expelled
   * it. Heartbeats bring what nobody could push.
   */
  private static final long REGISTER_MILLIS_MAX = 1_000;

  private final Link link;
  private final ClusterDirectory directory;
  private final ConsumerOptions options;
  private final String instance;
  private final String host;
  private final boolean keepsState;
  private final long bornMillis = System.currentTimeMillis();
  private final OwnContext context;
  private final ConsumerCore core;
  private final ActionRunner actions;
  private final HeartbeatLoop heartbeats;
  private final MessageLoop<?> messages;

  /** Where the messages come from: the core, or what a dealer deals. */
  private final MessageSource<?> source;

  /** Null in mode sharded, as is {@code level}. */
  private final LevelWork work;

  private final LevelMember level;

  /** Null but in mode broadcast. */
  private final BroadcastMember broadcast;

  /** Null without rates, as is {@code wake}. */
  private final RateGate rates;

  private final WakeTimer wake;

  /** Null without dedup. */
  private final ClusterDedup dedup;

  /** Mode singleton: what the handler is told of its leadership. */
  private final Leaderships leaderships;

  private final RepetitionWatch repetition;
  private final ApplicationEvents events;
  private final Promise<Consumer> started = Promise.promise();
  private final Promise<Void> closed = Promise.promise();

  private LinkRelay linkStates;
  private Link.Listening pushes;
  private long ticker = -1;
  private long startDeadlineMillis;
  private long closeDeadlineMillis;
  private long lostSinceMillis;
  private boolean linkLost;
  private boolean begun;
  private boolean closing;
  private boolean leaving;
  private boolean ended;
  private boolean turning;
  private String lastRefusal;

  /** Read from any thread. */
  private volatile int owned;

  private volatile long consumed;

  /**
   * @param instance this run of the member
   * @param host for people
   * @param levelRange the group's range in mode level; 0 in mode sharded
   * @param offsets of mode broadcast; null in other modes
   * @param seats gives the automata of a cluster's member by its id, or null
   */
  ConsumerShell(
      Link link,
      ClusterDirectory directory,
      ConsumerOptions options,
      ConsumerHandler handler,
      String instance,
      String host,
      int levelRange,
      StoredPositions offsets,
      Function<String, SharedAutomata> seats) {
    this.link = link;
    this.directory = directory;
    this.options = options;
    this.instance = instance;
    this.host = host;
    keepsState = handler.keepsState() && offsets == null;
    context = new OwnContext(link.vertx());
    SplittableRandom random = new SplittableRandom();
    boolean givesState = handler.givesState() && offsets == null;
    core =
        new ConsumerCore(options, instance, keepsState, givesState, handler.usesContext(), random);
    ShardCalls calls = new ShardCalls(link, directory, options.getGroup());
    broadcast =
        offsets == null
            ? null
            : new BroadcastMember(
                options,
                instance,
                directory,
                calls,
                offsets,
                context,
                core,
                this,
                this::endBecause);
    PublishCalls publishing = new PublishCalls(calls, options.getGroup());
    actions = new ActionRunner(broadcast == null ? calls : broadcast, publishing, handler, this);
    DedupKeys keys =
        new DedupKeys(
            options.getGroup(),
            options.getDedup(),
            handler.givesDedupKey() ? handler::dedupKey : null);
    repetition =
        new RepetitionWatch(
            keys, options.getParallel(), options.getOrder() == ConsumerOptions.Order.SHARD);
    if (levelRange > 0) {
      work = new LevelWork(options, instance, levelRange, random, this::warn);
      level = new LevelMember(link, work, handler, instance, this, actions);
      source = work;
      messages = loop(work, (task, delivery) -> handler.handle(delivery), this::look);
      dedup = null;
      rates = null;
    } else {
      work = null;
      level = null;
      source = core;
      boolean dedups = options.getDedup() != ConsumerOptions.Dedup.OFF;
      dedup =
          dedups
              ? new ClusterDedup(
                  link, seats, options, handler, core, keys, repetition, this, actions)
              : null;
      Admission admission = dedups ? dedup.step() : core;
      boolean limited = options.getRate() != null || options.getKeyRate() != null;
      rates = limited ? rates(handler, admission) : null;
      MessageLoop.Call<Task> call =
          handler.usesContext()
              ? withContext(handler)
              : (task, delivery) -> handler.handle(delivery);
      // The dedup step looks at each message itself, also at those that it declines.
      messages =
          loop(rates == null ? admission : rates, call, dedups ? seenBefore -> {} : this::look);
    }
    leaderships = new Leaderships(options.getMember(), () -> onContext(this::resigned));
    wake = rates == null ? null : new WakeTimer(link.vertx(), () -> onContext(this::turn));
    events = new ApplicationEvents(actions::safely);
    heartbeats =
        new HeartbeatLoop(
            link, directory, options.getHeartbeatMillis(), random, this, this::onContext);
  }

  private RateGate rates(ConsumerHandler handler, Admission before) {
    boolean byPayload = options.getRateBy() == ConsumerOptions.RateBy.PAYLOAD;
    return new RateGate(
        core,
        before,
        options,
        new DedupKeys(
            options.getGroup(),
            byPayload ? ConsumerOptions.Dedup.PAYLOAD : ConsumerOptions.Dedup.KEY,
            null),
        delivery -> actions.safely("onDropped", () -> handler.onDropped(delivery)));
  }

  private <T extends MessageSource.Handed> MessageLoop<T> loop(
      MessageSource<T> from, MessageLoop.Call<T> call, java.util.function.Consumer<Delivery> look) {
    return new MessageLoop<>(from, call, options.getMember(), context, look, this::turn);
  }

  private MessageLoop.Call<Task> withContext(ConsumerHandler handler) {
    boolean commits =
        keepsState && options.getDelivery() == ConsumerOptions.DeliveryPolicy.EFFECTIVELY_ONCE;
    return (task, delivery) -> {
      TaskContext of = new TaskContext(directory, commits, task);
      Future<Void> handled = handler.handle(delivery, of);
      return handled == null ? null : handled.onComplete(ended -> of.end());
    };
  }

  private void look(Delivery delivery) {
    if (delivery.attempt() == 1) {
      repetition.see(delivery.topic(), delivery.message());
    }
  }

  Future<Consumer> start() {
    onContext(
        () -> {
          startDeadlineMillis = Clock.millis() + START_MILLIS_MAX;
          linkStates = LinkRelay.of(link, state -> onContext(() -> linkState(state)));
          linkState(link.state());
          if (ended) {
            return;
          }
          pushes = link.listen(Addresses.member(instance), body -> onContext(() -> pushed(body)));
          ticker = link.vertx().setPeriodic(TICK_MILLIS, id -> onContext(this::tick));
          Future<Void> prepared = prepared();
          Future<Void> served = level == null ? Future.succeededFuture() : level.begin();
          Future.join(pushes.registered(), served)
              .timeout(REGISTER_MILLIS_MAX, TimeUnit.MILLISECONDS)
              .transform(registered -> directory.view())
              .transform(view -> prepared)
              .onComplete(done -> onContext(this::begin));
        });
    return started.future();
  }

  private Future<Void> prepared() {
    return link.vertx()
        .executeBlocking(
            () -> {
              Rehearsal.once(options.getOrder(), keepsState);
              return null;
            });
  }

  private void begin() {
    begun = true;
    if (!ended) {
      heartbeats.hurry();
    }
  }

  /** Runs {@code action} on the consumer's context: now if this is it. */
  @Override
  public void onContext(Runnable action) {
    context.run(action);
  }

  // Messages

  /** Does everything that can be done now. */
  @Override
  public void turn() {
    if (turning || ended) {
      return;
    }
    turning = true;
    try {
      messages.run(this::act);
      consumed = source.consumed();
      if (level != null) {
        level.turn();
      }
    } finally {
      turning = false;
    }
    if (wake != null && !ended) {
      long now = Clock.millis();
      wake.wakeAt(rates.dueMillis(now), now);
    }
    if (closing) {
      leaveIfDone();
    }
  }

  /** Carries out what the core wants; false once the consumer has ended. */
  private boolean act() {
    ConsumerAction action;
    while (!ended && (action = core.poll()) != null) {
      action.performBy(actions);
    }
    return !ended;
  }

  // Shards

  @Override
  public LeaderContext leadChanged(Assignment.Lead lead) {
    return leaderships.changed(lead);
  }

  private void resigned() {
    if (!ended) {
      heartbeatNow();
    }
  }

  @Override
  public void ownedChanged(int now) {
    owned = now;
    repetition.owned(now);
    events.assigned(now);
  }

  @Override
  public void heartbeatNow() {
    // After the last one, another would bring the member back.
    if (!leaving) {
      heartbeats.hurry();
    }
  }

  @Override
  public void stop(String text, Throwable cause) {
    if (!closing && !ended) {
      LOG.error("{}: {}: {}", this, text, cause.toString());
      RefusedException why =
          new RefusedException(Refusal.INVALID, text + ": " + cause.getMessage());
      context.later(() -> close().onComplete(done -> onContext(() -> events.ended(why))));
    }
  }

  @Override
  public void heartbeatSoon() {
    heartbeats.soon();
  }

  // Membership

  @Override
  public Heartbeat heartbeat(boolean leave) {
    boolean level = options.getMode() == ConsumerOptions.Mode.LEVEL;
    return new Heartbeat(
        options.getGroup(),
        options.getMember(),
        instance,
        bornMillis,
        leave,
        closing,
        OptionsCheck.policy(options),
        options.getTopics(),
        options.getStart(),
        link.clusterMember(),
        host,
        source.consumed(),
        options.getMemberTimeoutMillis(),
        options.getLockTimeMillis(),
        new Heartbeat.Wishes(
                options.getAssignor(),
                options.getStuckTimeoutMillis(),
                options.getCrashLockTimeMillis(),
                (Long) OptionsCheck.given(options, "stallTimeoutMillis"),
                level ? options.getOrder().name().toLowerCase(Locale.ROOT) : null,
                level ? options.getRetryDelaysMillis() : null)
            .resignedAt(leaderships.resignedTerm()),
        broadcast == null ? core.progress(Clock.millis()) : List.of(),
        tally(),
        core.breakerOpen(),
        flow());
  }

  private FlowTally flow() {
    return rates == null && broadcast == null
        ? null
        : new FlowTally(
            rates == null ? Figures.NONE : rates.rates(),
            broadcast == null ? null : new FlowTally.Broadcast(core.lag(), broadcast.givenUp()));
  }

  private DedupTally tally() {
    Repetition seen = repetition.read();
    DedupTally.Repeats repeats =
        seen.observedMessages() == 0
            ? null
            : new DedupTally.Repeats(
                seen.level().name().toLowerCase(Locale.ROOT),
                seen.smallestDistance(),
                seen.declinedShare(),
                seen.observedMessages());
    return dedup == null ? new DedupTally(Figures.NONE, repeats, List.of()) : dedup.tally(repeats);
  }

  @Override
  public void answered(long sentMillis, Assignment assignment) {
    if (ended) {
      return;
    }
    core.heartbeatAnswered(sentMillis);
    if (work != null) {
      work.heartbeatAnswered(sentMillis);
    }
    if (broadcast == null) {
      core.assigned(assignment, Clock.millis());
    } else {
      broadcast.accepted(Clock.millis());
    }
    started.tryComplete(this);
    turn();
  }

  @Override
  public void refused(RefusedException refused) {
    boolean fatal =
        refused.refusal() == Refusal.MEMBER_REPLACED || refused.refusal() == Refusal.GROUP_MISMATCH;
    if (fatal || !started.future().isComplete()) {
      endBecause(refused);
    } else if (!leaving && !refused.toString().equals(lastRefusal)) {
      lastRefusal = refused.toString();
      LOG.error("{}: its heartbeat is refused, it is repeated: {}", this, lastRefusal);
    }
  }

  private void pushed(Buffer body) {
    if (ended || broadcast != null) {
      return;
    }
    try {
      core.assigned(Assignment.fromJson(new JsonObject(body)), Clock.millis());
    } catch (RuntimeException e) {
      LOG.warn("{}: a malformed assignment was pushed: {}", this, e.toString());
    }
    turn();
  }

  private void linkState(Link.State state) {
    if (ended) {
      return;
    }
    boolean up = state == Link.State.CONNECTED;
    if (!up && !linkLost) {
      lostSinceMillis = Clock.millis();
    }
    linkLost = !up;
    if (up || broadcast == null) {
      // In mode broadcast nobody else gets what is not told: progress goes to the disk all the
      // same.
      core.link(up, Clock.millis());
    }
    if (work != null) {
      work.link(up, Clock.millis());
    }
    turn();
    if (state == Link.State.CLOSED) {
      endBecause(new RefusedException(Refusal.UNAVAILABLE, "the connection was closed"));
    }
  }

  private void tick() {
    if (ended) {
      return;
    }
    long now = Clock.millis();
    if (!started.future().isComplete() && now >= startDeadlineMillis) {
      endBecause(
          new RefusedException(
              Refusal.UNAVAILABLE,
              "no dispatcher answered within " + START_MILLIS_MAX / 1000 + " s"));
      return;
    }
    actions.checkLeaders();
    if (broadcast != null) {
      broadcast.tick(now);
    }
    if (rates != null) {
      rates.tick(now);
    }
    core.tick(now);
    if (dedup != null) {
      dedup.tick(now);
    }
    if (begun && !linkLost && !leaving) {
      heartbeats.tick();
    }
    turn();
  }

  private void warn(String text, Throwable cause) {
    LOG.warn("{}: {}: {}", this, text, cause.toString());
    LOG.debug("Where", cause);
  }

  // Ends

  /** Ends against its own will: nothing is released. */
  private void endBecause(Throwable cause) {
    if (ended) {
      return;
    }
    if (broadcast != null) {
      broadcast.lastWords();
    }
    core.replaced(String.valueOf(cause.getMessage()), Clock.millis());
    ConsumerAction action;
    while ((action = core.poll()) != null) {
      action.performBy(actions);
    }
    stop();
    if (!started.tryFail(cause)) {
      LOG.atLevel(levelOfEnd(options.getMember(), cause))
          .log("{} has ended: {}", this, cause.toString());
      events.ended(cause);
    }
    completeClosed();
  }

  /** A dispatcher's own consumer is replaced whenever the dispatcher moves. */
  static Level levelOfEnd(String member, Throwable cause) {
    boolean usual =
        cause instanceof RefusedException refused
            && refused.refusal() == Refusal.MEMBER_REPLACED
            && member.startsWith(Names.DISPATCHER_HOLDER);
    return usual ? Level.INFO : Level.WARN;
  }

  @Override
  public Future<Void> close() {
    return close(options.getLockTimeMillis());
  }

  @Override
  public Future<Void> close(long timeoutMillis) {
    onContext(
        () -> {
          long now = Clock.millis();
          long deadline = now + Math.min(timeoutMillis, options.getLockTimeMillis());
          closeDeadlineMillis = closing ? Math.min(deadline, closeDeadlineMillis) : deadline;
          if (!closing && !ended) {
            closing = true;
            core.close(now, timeoutMillis);
            if (level != null) {
              level.close();
              heartbeatNow();
            }
          }
          turn();
        });
    return closed.future();
  }

  private void leaveIfDone() {
    long now = Clock.millis();
    boolean givenUp =
        now >= closeDeadlineMillis
            // Without a connection nothing can be released, and by now we count as dead.
            || linkLost
                && source.running() == 0
                && now - lostSinceMillis >= options.getMemberTimeoutMillis();
    boolean drained = core.drained() && (work == null || work.drained(now));
    if (leaving || ended || !drained && !givenUp) {
      return;
    }
    leaving = true;
    if (!core.drained()) {
      LOG.warn("{}: closed with {} shards that could not be released", this, core.owned());
    } else if (!drained) {
      LOG.warn("{}: closed with messages whose ends the dealer may not know of", this);
    }
    heartbeats.leave().onComplete(done -> onContext(this::finishClose));
  }

  private void finishClose() {
    if (!ended) {
      core.replaced("the consumer was closed", Clock.millis());
      ConsumerAction action;
      while ((action = core.poll()) != null) {
        action.performBy(actions);
      }
      stop();
    }
    completeClosed();
  }

  private void completeClosed() {
    if (broadcast == null) {
      closed.tryComplete();
    } else {
      broadcast.end().onComplete(done -> closed.tryComplete());
    }
  }

  private void stop() {
    ended = true;
    consumed = source.consumed();
    owned = 0;
    if (level != null) {
      level.end();
    }
    if (dedup != null) {
      dedup.end(Clock.millis());
    }
    if (wake != null) {
      wake.cancel();
    }
    if (linkStates != null) {
      linkStates.end();
    }
    if (ticker >= 0) {
      link.vertx().cancelTimer(ticker);
    }
    if (pushes != null) {
      pushes.end();
    }
  }

  // For the application

  @Override
  public String member() {
    return options.getMember();
  }

  @Override
  public int ownedShards() {
    return owned;
  }

  @Override
  public long consumed() {
    return consumed;
  }

  @Override
  public void pause() {
    onContext(() -> pause(true));
  }

  @Override
  public void resume() {
    onContext(
        () -> {
          pause(false);
          turn();
        });
  }

  private void pause(boolean on) {
    core.pause(on, Clock.millis());
    if (work != null) {
      work.pause(on);
    }
  }

  @Override
  public Future<Boolean> unsubscribe(String topic) {
    Promise<Boolean> done = Promise.promise();
    onContext(
        () -> {
          RefusedException no = mustRead(topic);
          if (no != null) {
            done.fail(no);
            return;
          }
          List<String> others = new ArrayList<>(options.getTopics());
          others.removeIf(topic::equals);
          options.setTopics(others);
          if (broadcast != null) {
            broadcast.topicsChanged();
          }
          heartbeatNow();
          long untilMillis = Clock.millis() + options.getLockTimeMillis() + UNSUBSCRIBE_MILLIS;
          new Unsubscribing(link, directory, options.getGroup(), options.getMember(), topic)
              .ask(untilMillis)
              .onComplete(asked -> onContext(() -> done.handle(asked)));
        });
    return done.future();
  }

  /** Why the consumer cannot unsubscribe from a topic, or null. */
  private RefusedException mustRead(String topic) {
    List<String> topics = options.getTopics();
    if (ended || closing) {
      return new RefusedException(Refusal.INVALID, this + " is closed: it reads nothing any more");
    }
    if (!topics.contains(topic)) {
      return new RefusedException(
          Refusal.INVALID,
          this + " does not read topic '" + topic + "': it reads " + String.join(", ", topics));
    }
    return Set.copyOf(topics).size() > 1
        ? null
        : new RefusedException(
            Refusal.INVALID, this + " reads no other topic than '" + topic + "': close it instead");
  }

  @Override
  public Consumer onEnd(Handler<Throwable> handler) {
    onContext(() -> events.onEnd(handler));
    return this;
  }

  @Override
  public Consumer onAssignment(Handler<Integer> handler) {
    onContext(() -> events.onAssignment(handler, core.owned()));
    return this;
  }

  @Override
  public String toString() {
    return "consumer " + options.getGroup() + "/" + options.getMember();
  }
}
