package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.DedupTally;
import dev.evenkeel.bus.Ending;
import dev.evenkeel.bus.Figures;
import dev.evenkeel.bus.FlowTally;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.client.BlockingHandler;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Dedup;
import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.client.ConsumerOptions.Order;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.MemberFaultException;
import dev.evenkeel.client.internal.admission.DedupKeys;
import dev.evenkeel.client.internal.admission.RepetitionWatch;
import dev.evenkeel.client.internal.broadcast.StoredPositions;
import dev.evenkeel.client.internal.consume.Admission;
import dev.evenkeel.client.internal.consume.ConsumerAction;
import dev.evenkeel.client.internal.consume.ConsumerCore;
import dev.evenkeel.client.internal.consume.HandlerKind;
import dev.evenkeel.client.internal.consume.MessageSource;
import dev.evenkeel.client.internal.consume.Task;
import dev.evenkeel.client.internal.tracing.HandlerSpans;
import dev.evenkeel.dedup.Repetition;
import dev.evenkeel.dedup.SharedAutomata;
import dev.evenkeel.protocol.BuildVersion;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * A running consumer: carries out what {@link ConsumerCore} decides, and feeds it events. All of it
 * happens on one context.
 *
 * <p>In mode level it owns no shards: the level dispatcher hands messages out to {@link
 * LevelMember}.
 */
final class ConsumerShell
    implements Consumer,
        Ending,
        ActionRunner.Port,
        BroadcastMember.Port,
        HeartbeatLoop.Port,
        SubscribedTopics.Port {
  private static final Logger LOG = LoggerFactory.getLogger(Consumer.class);

  private static final long START_MILLIS_MAX = 60_000;

  /**
   * How long the first heartbeat waits until the dispatcher can push assignments to this member. A
   * part of the map of addresses may lie with a lost node until the cluster has expelled it; until
   * then the answers to heartbeats bring the assignments.
   */
  private static final long REGISTER_MILLIS_MAX = 1_000;

  private final MemberRun run;
  private final Link link;
  private final ClusterDirectory directory;
  private final ConsumerOptions options;
  private final OwnContext context;
  private final ConsumerCore core;
  private final ActionRunner actions;
  private final RepetitionWatch repetition;

  /** Mode singleton: the leaderships of this member. */
  private final Leaderships leaderships;

  private final String host;

  /** Null: the handler runs on the context. */
  private final Workers workers;

  private final long bornMillis = System.currentTimeMillis();

  /** No heartbeat has been answered yet. */
  private boolean joining = true;

  private final HeartbeatLoop heartbeats;
  private final BlockedLoopWatch blockedLoop;
  private final MessageLoop<?> messages;

  /** Where the messages come from: the core, or in mode level the level dispatcher. */
  private final MessageSource.Counts source;

  private final List<Feature> features = new ArrayList<>();

  /** Null unless the mode is level. */
  private final LevelMember level;

  /** Null unless the mode is broadcast. */
  private final BroadcastMember broadcast;

  /** Null without rates. */
  private RateLimits rates;

  /** The same loop as {@link #messages}; null in mode level, which has no rates. */
  private final MessageLoop<Task> rated;

  /** The step before the rates. */
  private final Admission unrated;

  /** Null without dedup. */
  private ClusterDedup dedup;

  private final Promise<Consumer> started = Promise.promise();
  private final Promise<Void> closed = Promise.promise();

  private final java.util.function.Consumer<Link.State> onLink = this::linkChanged;
  private final SubscribedTopics topics;
  private final List<Promise<Void>> subscribing = new ArrayList<>();
  private long topicsChanges;

  /** Of which changes of the topics the cluster knows. */
  private long topicsKnown = -1;

  private Link.Listening pushes;
  private long ticker = -1;
  private long startDeadlineMillis;

  /** By the last answer, the group has no lease yet on some shards of the topics. */
  private boolean opening;

  private long closeDeadlineMillis;
  private long lostSinceMillis;
  private boolean linkLost;
  private boolean begun;
  private boolean closing;

  /** See {@link #die}. */
  private List<MessageId> diedOf = List.of();

  private boolean leaving;
  private boolean ended;
  private boolean turning;
  private String lastRefusal;

  /** Read from any thread. */
  private volatile int owned;

  private volatile long consumed;
  private volatile long filtered;

  /**
   * @param instance this run of the member
   * @param host the name of this machine, for people
   * @param positions of mode broadcast; null in other modes
   * @param automataOf gives the automata for the link's {@link Link#clusterMember}, or null
   */
  ConsumerShell(
      Link link,
      ClusterDirectory directory,
      ConsumerOptions options,
      ConsumerHandler handler,
      String instance,
      String host,
      StoredPositions positions,
      Function<String, SharedAutomata> automataOf) {
    this.link = link;
    this.directory = directory;
    this.options = options;
    workers =
        options.isWorker() || handler instanceof BlockingHandler
            ? new Workers(options, "evenkeel-" + options.getGroup() + "/" + options.getMember())
            : null;
    this.host = host;
    context = new OwnContext(link.vertx());
    ConsumerHandler called = workers == null ? handler : workers.running(handler);
    HandlerKind kind = HandlerKind.of(handler);
    run =
        new MemberRun(
            link,
            directory,
            options,
            called,
            positions == null ? kind : kind.withoutState(),
            instance,
            context);
    topics = new SubscribedTopics(run, this);
    HandlerSpans spans = HandlerSpans.of(context.vertx(), options);
    SplittableRandom random = new SplittableRandom();
    core = new ConsumerCore(options, instance, run.kind(), random);
    ShardCalls calls = new ShardCalls(link, directory, options.getGroup(), context);
    broadcast =
        positions == null ? null : new BroadcastMember(run, this, core, topics, calls, positions);
    leaderships =
        new Leaderships(
            options.getMember(),
            () -> context.run(this::resigned),
            () -> core.fence().mayStart(Clock.millis()));
    actions =
        new ActionRunner(
            run,
            this,
            core,
            spans,
            leaderships,
            broadcast == null ? calls : broadcast,
            new PublishCalls(calls, options.getGroup()));
    DedupKeys keys =
        new DedupKeys(
            options.getGroup(),
            options.getDedup(),
            handler.givesDedupKey() ? handler::dedupKey : null);
    repetition =
        new RepetitionWatch(keys, options.getParallel(), options.getOrder() == Order.SHARD);
    if (broadcast != null) {
      features.add(broadcast);
    }
    if (options.getMode() == Mode.LEVEL) {
      level = new LevelMember(run, this, random);
      features.add(level);
      source = level.work();
      HandlerCalls handling = new HandlerCalls(run, spans, repetition);
      messages = new MessageLoop<>(run, this::turn, level.work(), handling::handle);
      rated = null;
      unrated = null;
    } else {
      level = null;
      source = core;
      Admission admission = core;
      if (options.getDedup() != Dedup.OFF) {
        dedup = new ClusterDedup(run, this, core, automataOf, keys, repetition);
        features.add(dedup);
        admission = dedup.step();
      }
      unrated = admission;
      if (options.getRate() != null
          || options.getKeyRate() != null
          || options.getGroupRate() != null) {
        rates = new RateLimits(run, this, core, admission);
        features.add(rates);
      }
      MessageSource<Task> last = rates == null ? admission : rates.source();
      // The dedup step measures repetition itself, also for messages that it declines.
      RepetitionWatch watch = dedup == null ? repetition : null;
      rated = new HandlerCalls(run, spans, watch).loop(last, this::turn);
      messages = rated;
    }
    heartbeats =
        new HeartbeatLoop(link, directory, context, options.getHeartbeatMillis(), this, random);
    blockedLoop = new BlockedLoopWatch(run, heartbeats::again, handler.getClass());
  }

  Future<Consumer> start() {
    context.run(
        () -> {
          startDeadlineMillis = Clock.millis() + START_MILLIS_MAX;
          link.onState(onLink);
          linkState(link.state());
          if (ended) {
            return;
          }
          pushes =
              link.listen(
                  Addresses.member(run.instance()), body -> context.run(() -> pushed(body)));
          ticker =
              link.vertx().setPeriodic(ConsumerCore.TICK_MILLIS, id -> context.run(this::tick));
          blockedLoop.start();
          Future<Void> warm =
              link.vertx()
                  .executeBlocking(() -> WarmUp.once(options.getOrder(), run.kind().keepsState()));
          List<Future<Void>> reachable = new ArrayList<>(List.of(pushes.registered()));
          features.forEach(feature -> reachable.add(feature.begin()));
          Future.join(reachable)
              .timeout(REGISTER_MILLIS_MAX, TimeUnit.MILLISECONDS)
              .transform(registered -> directory.view())
              .transform(view -> warm)
              .onComplete(done -> context.run(this::begin));
        });
    return started.future();
  }

  private void begin() {
    if (!ended) {
      topics.look();
      begun = true;
      if (options.getTopics().isEmpty()) {
        // It joins when the first topic appears.
        started.tryComplete(this);
      } else {
        heartbeats.hurry();
      }
    }
  }

  @Override
  public void onEvent(LongConsumer event) {
    context.run(
        () -> {
          event.accept(Clock.millis());
          turn();
        });
  }

  // Messages

  /** Does everything that can be done now. */
  private void turn() {
    if (turning || ended) {
      return;
    }
    turning = true;
    try {
      messages.run(this::act);
      consumed = source.consumed();
      filtered = core.filtered();
      if (!ended) {
        features.forEach(Feature::turned);
      }
    } finally {
      turning = false;
    }
    if (closing) {
      leaveIfDone();
    }
  }

  /** Carries out the actions of the core. Returns false once the consumer has ended. */
  private boolean act() {
    ConsumerAction action;
    while (!ended && (action = core.poll()) != null) {
      actions.run(action);
    }
    return !ended;
  }

  // What the core wants

  private void resigned() {
    if (!ended) {
      heartbeatNow();
    }
  }

  @Override
  public void heartbeatSoon() {
    heartbeats.soon();
  }

  @Override
  public void ownedChanged(int now) {
    owned = now;
    repetition.owned(now);
  }

  @Override
  public void heartbeatNow() {
    // After the last heartbeat, another one would bring the member back.
    if (!leaving && !options.getTopics().isEmpty()) {
      heartbeats.hurry();
    }
  }

  @Override
  public void stop(String text, Throwable cause) {
    if (!closing && !ended) {
      LOG.error("{}: {}: {}", this, text, cause.toString());
      Throwable why =
          cause instanceof MemberFaultException
              ? cause
              : new RefusedException(Refusal.INVALID, text + ": " + cause.getMessage());
      context.later(() -> close().onComplete(done -> context.run(() -> actions.ended(why))));
    }
  }

  // Membership

  @Override
  public Heartbeat heartbeat(boolean leave) {
    boolean level = options.getMode() == Mode.LEVEL;
    return new Heartbeat(
        options.getGroup(),
        options.getMember(),
        run.instance(),
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
            level ? options.getRetryDelaysMillis() : null,
            leaderships.resignedTerm(),
            options.getGraceMillis(),
            options.getFilter().isAll() ? null : options.getFilter().texts(),
            level ? options.getCrashesMax() : Limits.CRASHES_MAX_DEFAULT),
        broadcast == null ? core.progress(Clock.millis()) : List.of(),
        tally(),
        core.breakerOpen(),
        flow(),
        broadcast == null ? core.seen() : null,
        null,
        BuildVersion.number(),
        joining,
        null,
        link.home(),
        leave ? diedOf : List.of());
  }

  private FlowTally flow() {
    boolean filters = !options.getFilter().isAll();
    return rates == null && broadcast == null && !filters
        ? null
        : new FlowTally(
            rates == null ? Figures.NONE : rates.rates(),
            broadcast == null ? null : new FlowTally.Broadcast(core.lag(), broadcast.givenUp()),
            filters ? core.filtered() : null);
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
  public void answered(long sentMillis, long topics, Assignment assignment) {
    if (ended) {
      return;
    }
    joining = false;
    // The time that decides whether handlers may start may be a little old.
    long counted = sentMillis - LoopClock.AGE_MILLIS_MAX;
    core.heartbeatAnswered(counted);
    features.forEach(feature -> feature.heartbeatAnswered(counted));
    // Before the shards: their messages may be here already.
    groupLimited(assignment.groupRate() != null);
    if (broadcast == null) {
      assigned(assignment);
    }
    paused(assignment);
    opening = assignment.opening();
    if (!opening) {
      topicsKnown = topics;
    }
    settleTopics();
    turn();
  }

  private void paused(Assignment assignment) {
    if (broadcast == null) {
      core.paused(assignment, Clock.millis());
      features.forEach(feature -> feature.groupPaused(core.isPaused()));
    }
  }

  @Override
  public long topicsChanges() {
    return topicsChanges;
  }

  /**
   * The group reads the topics: every message that is sent from now on is for it. Completes what
   * waits for that.
   */
  @Override
  public void settleTopics() {
    if (topicsKnown == topicsChanges && (broadcast == null || broadcast.reads())) {
      started.tryComplete(this);
      List<Promise<Void>> done = List.copyOf(subscribing);
      subscribing.clear();
      done.forEach(Promise::tryComplete);
    }
  }

  @Override
  public Future<Void> topicsRead() {
    if (options.getTopics().isEmpty()) {
      return Future.succeededFuture();
    }
    Promise<Void> done = Promise.promise();
    subscribing.add(done);
    return done.future()
        .timeout(START_MILLIS_MAX, TimeUnit.MILLISECONDS)
        .recover(
            late ->
                Future.failedFuture(
                    late instanceof RefusedException
                        ? late
                        : Refusal.UNAVAILABLE.error(
                            "%s reads the topic as soon as the cluster answers: it has not within"
                                + " %s s",
                            this, START_MILLIS_MAX / 1000)));
  }

  @Override
  public void giveBack(Task task) {
    rated.giveBack(task);
  }

  /** The group has, or has not, a rate, which counts for members that do not ask for it, too. */
  private void groupLimited(boolean limited) {
    if (rated == null || rates == null && !limited) {
      return;
    }
    if (rates == null) {
      rates = new RateLimits(run, this, core, unrated);
      features.add(rates);
      rated.use(rates.source());
    }
    rates.groupLimited(limited);
  }

  @Override
  public void refused(RefusedException refused) {
    boolean fatal =
        refused.refusal() == Refusal.MEMBER_REPLACED || refused.refusal() == Refusal.GROUP_MISMATCH;
    if (fatal || !started.future().isComplete()) {
      endBecause(refused);
    } else if (!leaving && !refused.toString().equals(lastRefusal)) {
      lastRefusal = refused.toString();
      LOG.error("{}: the dispatcher refuses the heartbeat, retrying: {}", this, lastRefusal);
    }
  }

  private void pushed(Buffer body) {
    if (ended || broadcast != null) {
      return;
    }
    try {
      Assignment assignment = Assignment.fromJson(new JsonObject(body));
      assigned(assignment);
      paused(assignment);
    } catch (RuntimeException e) {
      LOG.warn("{}: ignored a malformed assignment: {}", this, e.toString());
    }
    turn();
  }

  private void assigned(Assignment assignment) {
    core.assigned(assignment, Clock.millis());
    if (!leaving) {
      actions.assigned(assignment);
    }
  }

  private void linkChanged(Link.State state) {
    context.run(() -> linkState(state));
  }

  private void linkState(Link.State state) {
    if (ended) {
      return;
    }
    long now = Clock.millis();
    boolean up = state == Link.State.CONNECTED;
    if (!up && !linkLost) {
      lostSinceMillis = now;
    }
    linkLost = !up;
    if (up || broadcast == null) {
      // In mode broadcast no other member gets the shards, and progress goes to the disk.
      core.link(up, now);
    }
    features.forEach(feature -> feature.link(up, now));
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
    blockedLoop.works(now);
    if (!started.future().isComplete() && now >= startDeadlineMillis) {
      if (opening) {
        // It works on what it has; to end now would take that from the group, too.
        LOG.warn(
            "{} begins although its group does not read all its topics yet: some shards have no"
                + " leader",
            this);
        started.tryComplete(this);
        return;
      }
      endBecause(
          new RefusedException(
              Refusal.UNAVAILABLE,
              "no dispatcher answered within " + START_MILLIS_MAX / 1000 + " s"));
      return;
    }
    actions.checkLeaders(now);
    features.forEach(feature -> feature.tick(now));
    core.shardGroups(directory.shardGroups());
    core.tick(now);
    if (begun && !linkLost && !leaving) {
      if (topics.hasPatterns()) {
        topics.look();
      }
      if (!options.getTopics().isEmpty()) {
        heartbeats.tick();
      }
    }
    turn();
  }

  // Ends

  @Override
  public void endBecause(Throwable cause) {
    if (ended) {
      return;
    }
    if (broadcast != null) {
      broadcast.storeLastProgress();
    }
    end(String.valueOf(cause.getMessage()));
    if (!started.tryFail(cause)) {
      LOG.atLevel(levelOfEnd(options.getMember(), cause))
          .log("{} has ended: {}", this, cause.toString());
      actions.ended(cause);
    }
    completeClosed();
  }

  /**
   * The log level of an end. The own consumer of a dispatcher is replaced whenever the dispatcher
   * moves.
   */
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
    if (closed.future().isComplete()) {
      // Its Vert.x may be closed, too.
      return closed.future();
    }
    onEvent(
        now -> {
          long deadline = now + Math.min(timeoutMillis, options.getLockTimeMillis());
          closeDeadlineMillis = closing ? Math.min(deadline, closeDeadlineMillis) : deadline;
          if (!closing && !ended) {
            closing = true;
            core.close(now, timeoutMillis);
            features.forEach(Feature::close);
          }
        });
    return closed.future();
  }

  /**
   * Closes, and leaves the group as a member that has died of one of these messages, which it has
   * in hand. Their shards are not released, so that the death counts. Those of others are.
   */
  Future<Void> die(Collection<Delivery> inHand) {
    onEvent(
        now -> {
          if (!closing && !ended) {
            List<MessageId> all = level == null ? core.die(inHand, now) : level.die(inHand);
            diedOf = all.subList(0, Math.min(all.size(), Heartbeat.DIED_OF_MAX));
          }
        });
    return close();
  }

  @Override
  public Future<Void> over() {
    return closed.future();
  }

  private void leaveIfDone() {
    long now = Clock.millis();
    boolean givenUp =
        now >= closeDeadlineMillis
            // Without a connection nothing can be released, and by now the cluster counts us as
            // dead.
            || linkLost
                && source.running() == 0
                && now - lostSinceMillis >= options.getMemberTimeoutMillis();
    boolean drained = core.drained() && features.stream().allMatch(feature -> feature.drained(now));
    if (leaving || ended || !drained && !givenUp) {
      return;
    }
    leaving = true;
    if (core.owned() > 0) {
      LOG.warn("{}: closed with {} shards that could not be released", this, core.owned());
    } else if (!core.drained()) {
      LOG.warn("{}: closed, although {} handlers have not ended", this, core.running());
    } else if (!drained) {
      LOG.warn("{}: closed, and the level dispatcher may not know which messages have ended", this);
    }
    heartbeats
        .leave()
        .onComplete(
            done ->
                context.run(
                    () -> {
                      if (!ended) {
                        end("the consumer was closed");
                      }
                      completeClosed();
                    }));
  }

  private void completeClosed() {
    if (broadcast == null) {
      closed.tryComplete();
    } else {
      broadcast.release().onComplete(done -> closed.tryComplete());
    }
  }

  private void end(String why) {
    RefusedException closed = Refusal.INVALID.error("%s: %s", this, why);
    subscribing.forEach(each -> each.tryFail(closed));
    core.replaced(why, Clock.millis());
    act();
    ended = true;
    consumed = source.consumed();
    owned = 0;
    features.forEach(feature -> feature.end(Clock.millis()));
    link.offState(onLink);
    blockedLoop.end();
    if (workers != null) {
      workers.close();
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
  public long filtered() {
    return filtered;
  }

  @Override
  public long consumed() {
    return consumed;
  }

  @Override
  public void pause() {
    context.run(() -> pause(true, Clock.millis()));
  }

  @Override
  public void resume() {
    onEvent(now -> pause(false, now));
  }

  private void pause(boolean on, long now) {
    core.pause(on, now);
    features.forEach(feature -> feature.pause(on));
  }

  @Override
  public Future<Void> subscribe(String topic) {
    Promise<Void> done = Promise.promise();
    context.run(() -> topics.add(topic).onComplete(done));
    return done.future();
  }

  @Override
  public Future<Boolean> unsubscribe(String topic) {
    Promise<Boolean> done = Promise.promise();
    context.run(
        () -> topics.remove(topic).onComplete(asked -> context.run(() -> done.handle(asked))));
    return done.future();
  }

  @Override
  public void requireOpen() {
    if (ended || closing) {
      throw new RefusedException(Refusal.INVALID, this + " is closed: it reads nothing any more");
    }
  }

  @Override
  public void topicsChanged() {
    topicsChanges++;
    if (broadcast != null) {
      broadcast.topicsChanged();
    }
    if (begun) {
      heartbeatNow();
    }
  }

  @Override
  public Consumer onEnd(Handler<Throwable> handler) {
    context.run(() -> actions.onEnd(handler));
    return this;
  }

  @Override
  public Consumer onAssignment(Handler<Integer> handler) {
    context.run(() -> actions.onAssignment(handler));
    return this;
  }

  @Override
  public String toString() {
    return run.toString();
  }
}
