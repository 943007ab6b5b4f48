package dev.evenkeel.dispatcher;

import dev.evenkeel.api.RecordJson;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterInSight;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.GroupQuestions.Change;
import dev.evenkeel.bus.GroupQuestions.Forget;
import dev.evenkeel.bus.GroupQuestions.Live;
import dev.evenkeel.bus.GroupQuestions.Look;
import dev.evenkeel.bus.GroupQuestions.MemberId;
import dev.evenkeel.bus.GroupQuestions.MemberUse;
import dev.evenkeel.bus.GroupQuestions.Plan;
import dev.evenkeel.bus.GroupQuestions.Rebalances;
import dev.evenkeel.bus.GroupQuestions.Reset;
import dev.evenkeel.bus.GroupQuestions.What;
import dev.evenkeel.bus.GroupQuestions.WhatIfForgotten;
import dev.evenkeel.bus.GroupQuestions.WhoIs;
import dev.evenkeel.bus.GroupScope;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.JsonQuestions;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.bus.LocalDispatcher;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.bus.share.HeavyWork;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.bus.share.Turns;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.dispatcher.core.GroupState;
import dev.evenkeel.dispatcher.core.MoveLog;
import dev.evenkeel.dispatcher.core.WhatIf;
import dev.evenkeel.log.Leadership;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.util.SteadyClock;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The dispatcher of one node. It acts while the node leads the meta log group; else it refuses with
 * NOT_LEADER and the leader's node id.
 *
 * <p>It needs a broker deployed before it on the same Vert.x, which puts the {@link LogNode} into
 * {@link LocalObjects}, and takes the {@link ClusterMember} from there or, if there is none, makes
 * its own over the Vert.x, which then must be clustered by Hazelcast. Configuration: see {@link
 * DispatcherOptions}.
 *
 * <p>It answers heartbeats at {@link Addresses#dispatcher}, and {@link
 * dev.evenkeel.bus.GroupQuestions} at {@link Addresses#groups}.
 */
public final class DispatcherVerticle extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(DispatcherVerticle.class);
  private static final int LOOKS_MAX = 64;

  /** Most groups whose list is written on the event loop. */
  private static final int LISTED_HERE_MAX = 20;

  /** Most heartbeats that wait: each member of the largest cluster sends one or two meanwhile. */
  private static final int HEARTBEATS_MAX = 20_000;

  /** Most bytes of heartbeats that wait: 64 MiB. */
  private static final long HEARTBEAT_BYTES_MAX = 64L << 20;

  /** Other inputs wait for heartbeats for about this long. */
  private static final long SLICE_NANOS = 5_000_000;

  private final List<MessageConsumer<?>> consumers = new ArrayList<>();

  /** Take this verticle's listeners from what outlasts it. */
  private final List<Runnable> forgets = new ArrayList<>();

  private ClusterMember cluster;
  private LogNode log;
  private final JsonQuestions<Message<Object>, Void> questions = questions();
  private DispatcherOptions options;
  private int watched;
  private Brokers brokers;
  private SessionEnds sessions;
  private Activation activation;
  private MeterScope scope;
  private DispatcherMeters meters;
  private GroupMetrics figures;

  /** Read from other threads. */
  private volatile boolean active;

  private LevelGroups levels;
  private long lastRevision;
  private long timer = -1;
  private FairShare looks;

  private Turns<Message<Object>> turns;

  /** Heartbeats are being taken, now or in the next turn of the event loop. */
  private boolean taking;

  /** The log reports leaders even after this verticle's context has ended. */
  private volatile boolean stopped;

  /** The cluster member, if it was made here. */
  private ClusterMember ownCluster;

  /** For a deployment by name. */
  public DispatcherVerticle() {}

  public DispatcherVerticle(ClusterMember cluster) {
    this.cluster = cluster;
  }

  @Override
  public Future<?> start() {
    options = new DispatcherOptions(config());
    AssignorTable.logProblems();
    log = LocalObjects.get(vertx, LogNode.class);
    if (log == null) {
      return Future.failedFuture(
          Refusal.UNAVAILABLE.error(
              "a dispatcher needs a broker on the same Vert.x: deploy the broker first"));
    }
    if (cluster == null) {
      cluster = LocalObjects.get(vertx, ClusterMember.class);
    }
    if (cluster != null) {
      return begin();
    }
    return ClusterMembers.of(vertx)
        .compose(
            member -> {
              ownCluster = member;
              cluster = member;
              member.voters(() -> log.nodes().size());
              LocalObjects.put(
                  vertx, ClusterInSight.class, new ClusterInSight(member::dataMembers, List::of));
              return begin();
            });
  }

  private Future<?> begin() {
    LocalObjects.put(
        vertx,
        LocalDispatcher.class,
        new LocalDispatcher(
            ((ContextInternal) context).nettyEventLoop(), this::expire, this::hasMembers));
    looks = Shares.of(vertx).divide(Scarce.GROUP_LOOKS, LOOKS_MAX);
    turns = new Turns<>(HEARTBEATS_MAX, HEARTBEAT_BYTES_MAX, Shares.of(vertx)::weight);
    scope = Meters.of(vertx).scope("dispatcher");
    meters = new DispatcherMeters(scope, () -> active);
    figures = new GroupMetrics(scope);
    scope.reading(this::readFigures);
    brokers =
        new Brokers(vertx, log.nodeId(), options.get(DispatcherOptions.REQUEST_TIMEOUT_MILLIS));
    levels = new LevelGroups(vertx, context, log.nodeId());
    sessions =
        new SessionEnds(
            vertx,
            log::nodes,
            cluster::nodes,
            SessionEnds.ANSWER_MILLIS_MAX,
            new SteadyClock()::millis);
    listen(Addresses.dispatcher(log.nodeId()), this::heartbeat);
    listen(Addresses.groups(log.nodeId()), this::groups);
    listen(Addresses.LEASE_CHANGES, this::leaseChange);
    listen(Addresses.TOPIC_CHANGES, message -> withActivation(Activation::topicsChanged));
    listen(Addresses.SESSIONS_ENDED, this::sessionReported);
    Consumer<ClusterMember.Change> changed =
        change -> later(() -> withActivation(Activation::clusterChanged));
    cluster.onChange(changed);
    forgets.add(() -> cluster.offChange(changed));
    follow(log.meta(), leadership -> lead());
    watchLeaders();
    timer = vertx.setPeriodic(options.get(DispatcherOptions.TICK_MILLIS), tick -> tick());
    lead();
    return Future.all(consumers.stream().map(MessageConsumer::completion).toList());
  }

  /** Follows the leaders of all data log groups; some may have been added. */
  private void watchLeaders() {
    List<LogGroup> groups = log.data();
    for (; watched < groups.size(); watched++) {
      int group = watched;
      follow(groups.get(group), leadership -> brokers.leads(group, leadership.leader()));
    }
  }

  private void follow(LogGroup group, Consumer<Leadership> action) {
    Consumer<Leadership> listener = leadership -> later(() -> action.accept(leadership));
    group.elections().onLeadership(listener);
    forgets.add(() -> group.elections().offLeadership(listener));
  }

  private void listen(String address, io.vertx.core.Handler<Message<Object>> handler) {
    consumers.add(vertx.eventBus().consumer(address, handler));
  }

  private void later(Runnable task) {
    if (stopped) {
      return;
    }
    context.runOnContext(
        now -> {
          if (!stopped) {
            task.run();
          }
        });
  }

  @Override
  public Future<?> stop() {
    LocalObjects.remove(vertx, LocalDispatcher.class);
    stopped = true;
    forgets.forEach(Runnable::run);
    if (timer >= 0) {
      vertx.cancelTimer(timer);
    }
    List<Future<Void>> gone = consumers.stream().map(MessageConsumer::unregister).toList();
    deactivate(Refusal.UNAVAILABLE, "the dispatcher is stopping");
    if (turns != null) {
      turns
          .all()
          .forEach(each -> each.reply(Frames.refusal(Refusal.UNAVAILABLE, "it is stopping")));
    }
    if (levels != null) {
      levels.end();
    }
    if (scope != null) {
      scope.close();
    }
    return Future.join(gone)
        .transform(ended -> ownCluster == null ? Future.succeededFuture() : ownCluster.close());
  }

  // ---- Leadership

  private void tick() {
    watchLeaders();
    lead();
    withActivation(Activation::tick);
  }

  private void withActivation(Consumer<Activation> task) {
    if (activation != null) {
      task.accept(activation);
    }
  }

  /** Begins or ceases to be the active dispatcher, as the log says. */
  private void lead() {
    Leadership leadership = log.meta().leadership();
    if (activation != null && (!leadership.ready() || leadership.term() != activation.term())) {
      LOG.info("no longer the active dispatcher of term {}", activation.term());
      deactivate(Refusal.NOT_LEADER, leaderName(leadership));
    }
    if (activation == null && leadership.ready()) {
      activation =
          new Activation(
              vertx,
              context,
              options,
              brokers,
              cluster,
              meters,
              levels,
              sessions,
              leadership.term(),
              lastRevision,
              () -> log.meta().elections().leadsForSure());
      meters.activations.increment();
      active = true;
      activation.start();
    }
  }

  private void deactivate(Refusal refusal, String detail) {
    if (activation != null) {
      activation.stop(refusal, detail);
      lastRevision = activation.revision();
      activation = null;
      active = false;
      figures.clear();
    }
  }

  private static String leaderName(Leadership leadership) {
    return leadership.leader() == null ? "" : leadership.leader();
  }

  /** The activation that serves requests now. */
  private Activation serving() {
    if (stopped) {
      // What was asked before the end must not begin again.
      throw Refusal.UNAVAILABLE.error("the dispatcher is stopping");
    }
    lead();
    if (activation == null) {
      throw new RefusedException.NotLeader(log.meta().leadership().leader());
    }
    if (!activation.ready()) {
      throw Refusal.UNAVAILABLE.error("the dispatcher is starting");
    }
    return activation;
  }

  // ---- Figures

  /**
   * Reads the figures of all groups, at most once a second; nothing on nodes without the active
   * dispatcher.
   */
  private Future<Void> readFigures() {
    Promise<Void> read = Promise.promise();
    context.runOnContext(
        now -> {
          Activation looking = activation;
          if (looking == null || !looking.ready()) {
            read.complete();
            return;
          }
          looking
              .looks(GroupScope.ALL)
              .<Void>map(
                  seen -> {
                    if (looking == activation) {
                      figures.show(seen.groups());
                    }
                    return null;
                  })
              .onComplete(read);
        });
    return read.future();
  }

  private Future<Boolean> expire(String group, String member) {
    Promise<Boolean> done = Promise.promise();
    context.runOnContext(
        now -> {
          try {
            done.complete(serving().expire(group, member));
          } catch (RefusedException e) {
            done.fail(e);
          }
        });
    return done.future();
  }

  private Future<Boolean> hasMembers(String group) {
    Promise<Boolean> done = Promise.promise();
    context.runOnContext(
        now -> {
          try {
            GroupState state = serving().core().find(group);
            done.complete(state != null && state.hasMembers());
          } catch (RefusedException e) {
            done.fail(e);
          }
        });
    return done.future();
  }

  // ---- Messages

  private void heartbeat(Message<Object> message) {
    meters.heartbeats.increment();
    int bytes = message.body() instanceof Buffer body ? body.length() : 0;
    String user = message.headers().get(Frames.USER);
    if (!turns.add(user, message, bytes)) {
      refuse(
          message,
          Refusal.OVERLOADED.error(
              "too many heartbeats%s wait for the dispatcher: send smaller ones or fewer",
              user == null ? "" : " of the user '" + user + "'"));
    } else if (!taking) {
      takeHeartbeats();
    }
  }

  /** Takes heartbeats for a moment; what else has come then has its turn before the next ones. */
  private void takeHeartbeats() {
    taking = true;
    long beginNanos = System.nanoTime();
    long nowNanos = beginNanos;
    while (nowNanos - beginNanos < SLICE_NANOS) {
      Turns.Turn<Message<Object>> next = turns.next();
      if (next == null) {
        taking = false;
        return;
      }
      long sinceNanos = nowNanos;
      try {
        take(next.task());
      } catch (RuntimeException | AssertionError | StackOverflowError e) {
        // The others must not wait for ever.
        ((ContextInternal) context).reportException(e);
      } finally {
        nowNanos = System.nanoTime();
        turns.spent(next, nowNanos - sinceNanos);
      }
    }
    context.runOnContext(
        later -> {
          if (!stopped) {
            takeHeartbeats();
          }
        });
  }

  private void take(Message<Object> message) {
    try {
      Activation serving = serving();
      if (message.body() instanceof Buffer body && body.length() > Heartbeat.BYTES_MAX) {
        throw Refusal.INVALID.error(
            "a heartbeat of %s bytes: at most %s; name fewer topics, or a pattern for many",
            body.length(), Heartbeat.BYTES_MAX);
      }
      Heartbeat beat = own(parse(JsonBodies.json(message.body())), message.headers());
      serving.heartbeat(message, beat.policy().isLevel() ? atHome(beat) : beat);
    } catch (RefusedException e) {
      refuse(message, e);
    }
  }

  private void refuse(Message<Object> message, RefusedException refused) {
    meters.refused(refused.refusal());
    message.reply(Frames.refusal(refused));
  }

  /** The heartbeat, with the user that the node names which took it. */
  private static Heartbeat own(Heartbeat beat, MultiMap headers) {
    String session = headers.get(Frames.SESSION);
    if (session != null && !session.equals(beat.clusterMember())) {
      throw Refusal.FORBIDDEN.error(
          "session %s sends a heartbeat of %s", session, beat.clusterMember());
    }
    String topics = headers.get(Frames.MAY_CONSUME);
    return beat.ofUser(
        headers.get(Frames.USER), topics == null ? null : List.of(topics.split(",")));
  }

  /** The heartbeat, with the node at which its program listens if that is known. */
  private Heartbeat atHome(Heartbeat beat) {
    return beat.home() == null ? beat.atHome(cluster.nodeOf(beat.clusterMember())) : beat;
  }

  private static Heartbeat parse(JsonObject json) {
    try {
      return Heartbeat.fromJson(json);
    } catch (ClassCastException
        | NullPointerException
        | IllegalArgumentException
        | IndexOutOfBoundsException e) {
      throw Refusal.INVALID.error("malformed heartbeat: a field is missing or of the wrong type");
    }
  }

  private void leaseChange(Message<Object> message) {
    try {
      LeaseChange change = LeaseChange.fromJson(JsonBodies.json(message.body()));
      withActivation(active -> active.leaseChanged(change));
    } catch (RefusedException | ClassCastException | NullPointerException e) {
      LOG.debug("unreadable lease change: {}", e.toString());
    }
  }

  private void sessionReported(Message<Object> message) {
    try {
      String session = Objects.requireNonNull(JsonBodies.json(message.body()).getString("session"));
      sessions.reported(session);
      withActivation(active -> active.sessionReported(session));
    } catch (RefusedException | ClassCastException | NullPointerException e) {
      LOG.debug("unreadable report of a session: {}", e.toString());
    }
  }

  private void groups(Message<Object> message) {
    try {
      questions.answer(JsonBodies.json(message.body()), message);
    } catch (RefusedException e) {
      meters.refused(e.refusal());
      message.reply(Frames.refusal(e));
    } catch (ClassCastException | IllegalArgumentException | NullPointerException e) {
      message.reply(Frames.refusal(Refusal.INVALID, "malformed question: " + e.getMessage()));
    }
  }

  private JsonQuestions<Message<Object>, Void> questions() {
    JsonQuestions<Message<Object>, Void> all = new JsonQuestions<>();
    // Every node answers that, not only the one with the active dispatcher.
    on(
        all,
        WhoIs.class,
        (asked, message) -> message.reply(JsonBodies.answer(new MemberId(cluster.id()))));
    on(all, Rebalances.class, (asked, message) -> message.reply(rebalances(serving(), asked)));
    on(all, Reset.class, (asked, message) -> reset(serving(), asked, message));
    on(all, Forget.class, (asked, message) -> forget(serving(), asked.forget(), message));
    on(all, Plan.class, (asked, message) -> plan(serving(), asked.plan(), message));
    on(
        all,
        WhatIfForgotten.class,
        (asked, message) -> whatIfForgotten(serving(), asked.whatIfForgotten(), message));
    on(
        all,
        MemberUse.class,
        (asked, message) ->
            message.reply(
                Frames.answer(
                    RecordJson.json(serving().core().memberUse()).toBuffer().getBytes())));
    on(all, Live.class, (asked, message) -> live(serving(), asked, message));
    on(all, Look.class, (asked, message) -> look(serving(), asked, message));
    return all;
  }

  private static <Q extends Record> void on(
      JsonQuestions<Message<Object>, Void> all,
      Class<Q> type,
      BiConsumer<Q, Message<Object>> answer) {
    all.on(
        type,
        (asked, message) -> {
          answer.accept(asked, message);
          return null;
        });
  }

  private static void forget(Activation serving, What what, Message<Object> message) {
    serving.forget(message, what.group(), what.topic(), what.leaver());
  }

  private void live(Activation serving, Live asked, Message<Object> message) {
    whenLooked(message, () -> serving.live(asked.live(), scope(asked.only())));
  }

  private static GroupScope scope(GroupScope asked) {
    return asked == null ? GroupScope.ALL : asked;
  }

  private static Buffer rebalances(Activation serving, Rebalances asked) {
    int limit = asked.limit() == null ? MoveLog.MAX : asked.limit();
    JsonArray moves = new JsonArray();
    for (MoveRecord move :
        serving
            .core()
            .moves()
            .recent(asked.rebalances(), Math.max(0, Math.min(limit, MoveLog.MAX)))) {
      moves.add(RecordJson.json(GroupReports.move(move)));
    }
    return Frames.answer(moves.toBuffer().getBytes());
  }

  private static void reset(Activation serving, Reset asked, Message<Object> message) {
    serving.reset(
        message,
        asked.reset(),
        asked.shards().stream().map(each -> new Shard(each.topicId(), each.shard())).toList(),
        new StartAt(StartAt.Kind.valueOf(asked.kind()), asked.value()),
        asked.force());
  }

  private void look(Activation serving, Look asked, Message<Object> message) {
    String group = asked.group();
    if (group == null) {
      whenLooked(message, () -> list(serving, scope(asked.only())));
    } else if (serving.core().find(group) == null) {
      throw unknown(group);
    } else {
      whenLooked(message, () -> detail(serving, group));
    }
  }

  private Future<Buffer> list(Activation serving, GroupScope scope) {
    return serving
        .looks(scope)
        .compose(
            seen ->
                seen.groups().size() <= LISTED_HERE_MAX
                    ? Future.succeededFuture(listed(seen))
                    : vertx.executeBlocking(() -> listed(seen), false));
  }

  private static Buffer listed(GroupsSeen seen) {
    return Frames.answer(RecordJson.json(seen.list()).toBuffer().getBytes());
  }

  private static RefusedException unknown(String group) {
    return Refusal.UNKNOWN_GROUP.error("there is no group '" + group + "'");
  }

  private void plan(Activation serving, Change asked, Message<Object> message) {
    String group = asked.group().group();
    if (serving.core().find(group) == null) {
      throw unknown(group);
    }
    WhatIf change = PlanReport.change(asked);
    whenLooked(
        message,
        () ->
            serving
                .look(group, (core, report) -> core.whatIf(group, change))
                .compose(
                    question ->
                        question == null
                            ? Future.failedFuture(unknown(group))
                            : planned(question)));
  }

  /** Plans on another thread, because that takes long in a large group. */
  private Future<Buffer> planned(WhatIf.Question question) {
    HeavyWork heavy = HeavyWork.of(vertx);
    return heavy
        .run(null, Activation.PLAN_BYTES, question::plan)
        .map(planned -> PlanReport.of(question.outcome(planned)))
        .compose(report -> heavy.run(null, Activation.PLAN_BYTES, () -> JsonBodies.answer(report)));
  }

  private void whatIfForgotten(Activation serving, What what, Message<Object> message) {
    String group = what.group();
    String topic = what.topic();
    whenLooked(
        message,
        () ->
            // The leases of all groups: what others need is not freed.
            serving.look(
                null,
                (core, report) -> {
                  GroupState state = core.find(group);
                  if (state == null) {
                    return Frames.refusal(unknown(group));
                  }
                  Reply.Refused no = core.whyNotForgotten(group, topic);
                  if (no != null && no.refusal() != Refusal.GROUP_ACTIVE) {
                    return Frames.refusal(no.refusal(), no.detail());
                  }
                  return JsonBodies.answer(
                      new JsonObject()
                          .put("refused", no == null ? null : no.detail())
                          .put("shards", report.whatIfForgotten(state, topic)));
                }));
  }

  private static Future<Buffer> detail(Activation serving, String group) {
    return serving.look(
        group,
        (core, report) -> {
          GroupState state = core.find(group);
          return state == null
              ? Frames.refusal(unknown(group))
              : JsonBodies.answer(report.of(state).view());
        });
  }

  private void whenLooked(Message<Object> message, Supplier<Future<Buffer>> look) {
    FairShare.Account account = looks.of(message.headers().get(Frames.USER));
    account.take(1);
    Future<Buffer> looked;
    try {
      looked = look.get();
    } catch (RuntimeException e) {
      looked = Future.failedFuture(e);
    }
    looked.onComplete(
        answer -> {
          account.give(1);
          message.reply(answer.succeeded() ? answer.result() : Frames.refusal(answer.cause()));
        });
  }
}
