package dev.evenkeel.broker.member;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.OVERLOADED;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.ReplacementView;
import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.serve.Answers;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FrameCodec;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.JsonQuestions;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.MemberQuestions.Accepted;
import dev.evenkeel.bus.MemberQuestions.ChangeVoters;
import dev.evenkeel.bus.MemberQuestions.Changed;
import dev.evenkeel.bus.MemberQuestions.DropCopy;
import dev.evenkeel.bus.MemberQuestions.Join;
import dev.evenkeel.bus.MemberQuestions.OfGroup;
import dev.evenkeel.bus.MemberQuestions.OfNode;
import dev.evenkeel.bus.MemberQuestions.Place;
import dev.evenkeel.bus.MemberQuestions.Plain;
import dev.evenkeel.bus.MemberQuestions.Removed;
import dev.evenkeel.bus.MemberQuestions.RequestJoin;
import dev.evenkeel.bus.Readiness;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.bus.ViewQuestion;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.NodeInfo;
import dev.evenkeel.log.NodeInfo.Stage;
import dev.evenkeel.log.PeerLink;
import dev.evenkeel.log.SnapshotSource;
import dev.evenkeel.log.SnapshotTransfer;
import dev.evenkeel.protocol.ClusterNode;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.NodePorts;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageConsumer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node's part in the cluster, on the event bus. Before the node's logs are open, it forms a
 * cluster with the other nodes or is taken into one. After that it replaces lost nodes, balances
 * leaders, gives snapshots to nodes that are far behind, and hands over its leaderships before it
 * stops. It serves {@link Addresses#membership}.
 *
 * <p>The event bus may start later than the first question, which then waits for it.
 */
public final class Membership implements PeerLink {
  private static final Logger LOG = LoggerFactory.getLogger(Membership.class);
  private static final long TELL_AGAIN_MILLIS = 5_000;
  private static final long ANSWER_MILLIS_MAX = 5_000;
  private static final long REPLACE_ANSWER_MILLIS_MAX = 15_000;

  private final String node;
  private final JsonQuestions<Void, Future<Buffer>> questions = questions();
  private final boolean dispatcher;
  private final CompletableFuture<Vertx> bus;
  private final Readiness readiness = new Readiness();
  private volatile NodeInfo info;
  private volatile SnapshotSource snapshots;
  private volatile boolean serving;
  private volatile Consumer<String> hints = hint -> {};
  private volatile Consumer<List<ClusterNode>> peersKnown = nodes -> {};
  private volatile BrokerNode broker;
  private volatile LeaderBalancerLoop spread;
  private volatile ClockLoop clocks;
  private volatile PlacementLoop placement;
  private volatile NodeFollower follower;
  private volatile String zone = "";
  private volatile String seeds = "";
  private volatile Place place;

  /** Guarded by this. */
  private Invitation invitation;

  /** Guarded by this. */
  private boolean closed;

  /** On the context only. */
  private Replacement replacement;

  private MessageConsumer<Object> consumer;
  private PeerCalls calls;
  private Context context;
  private long toldAtNanos;
  private String hinted;

  /**
   * @param dispatcher whether this node has the dispatcher role
   * @param bus the clustered Vert.x, once it is there
   */
  public Membership(String node, boolean dispatcher, CompletableFuture<Vertx> bus) {
    this.node = node;
    this.dispatcher = dispatcher;
    this.bus = bus;
  }

  /**
   * Calls {@code handler} with one line when an operator has to do something so that the node can
   * serve.
   */
  public void onHint(Consumer<String> handler) {
    hints = handler;
  }

  /**
   * Says in which zone the node is.
   *
   * @param ownZone what fails together, such as a rack; empty: not known
   */
  public void zone(String ownZone) {
    zone = ownZone;
  }

  /**
   * Says where the node looks for a cluster that is to take it in.
   *
   * @param addresses for people
   */
  public void seeds(String addresses) {
    seeds = addresses;
  }

  /** Serves the address; completes when the cluster knows. The bus must be there. */
  public Future<Void> start() {
    Vertx vertx = bus.join();
    LocalObjects.put(vertx, Readiness.class, readiness);
    FrameCodec.register(vertx);
    calls = new PeerCalls(vertx);
    context = vertx.getOrCreateContext();
    CompletableFuture<Void> registered = new CompletableFuture<>();
    context.runOnContext(
        ignored -> {
          consumer =
              vertx
                  .eventBus()
                  .consumer(
                      Addresses.membership(node), message -> Answers.answer(message, this::answer));
          consumer
              .completion()
              .onComplete(
                  done -> registered.complete(null),
                  failed -> registered.completeExceptionally(failed));
        });
    return Future.fromCompletionStage(registered);
  }

  /** The logs are open: this node may replace others from now on. */
  public void attach(BrokerNode opened) {
    broker = opened;
    LogSettings.Peer peer = opened.place();
    place = place(peer);
    clocks = new ClockLoop(calls, opened.clock(), opened::others);
    clocks.start();
    placement =
        new PlacementLoop(
            calls, opened, this::own, () -> replacement != null && replacement.running(), context);
    placement.start();
    follower = new NodeFollower(calls, opened, peersKnown);
    follower.start();
  }

  private Place place(LogSettings.Peer peer) {
    return peer == null
        ? null
        : new Place(peer.host(), NodePorts.baseOfRaft(peer.raftPort()), zone);
  }

  /** Calls {@code handler}, on any thread, with the nodes of the cluster whenever they change. */
  public void onNodes(Consumer<List<ClusterNode>> handler) {
    peersKnown = handler;
  }

  /** The node is ready: it may get leaderships, and hands those of other nodes over. */
  public void serve() {
    serving = true;
    readiness.setServing(true);
    spread =
        new LeaderBalancerLoop(
            calls, broker.log(), this::own, () -> broker.meta().tables().placement());
    spread.start();
  }

  /** Hands all leaderships over; completes within a few seconds in any case. */
  public Future<Void> handOver() {
    serving = false;
    readiness.setServing(false);
    if (spread != null) {
      spread.stop();
    }
    BrokerNode opened = broker;
    return opened == null ? Future.succeededFuture() : new Handover(calls, opened.log()).run();
  }

  /** Stops waiting for the other nodes, and stops serving the address. */
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    if (spread != null) {
      spread.stop();
    }
    if (clocks != null) {
      clocks.stop();
      placement.stop();
      follower.stop();
    }
    if (consumer != null) {
      consumer.unregister();
    }
  }

  @Override
  public void tell(NodeInfo newInfo) {
    info = newInfo;
  }

  @Override
  public CompletableFuture<NodeInfo> ask(String other) {
    return bus.thenCompose(
        vertx -> new PeerCalls(vertx).peer(other).map(Peer::info).toCompletionStage());
  }

  @Override
  public CompletableFuture<Void> askToJoin(NodeInfo asking, LogSettings.Peer own) {
    place = place(own);
    RequestJoin question =
        new RequestJoin(place, asking.node(), asking.incarnation(), FeatureLevel.reads());
    return bus.thenCompose(
        vertx ->
            ViewQuestion.ask(new VertxLink(vertx, node), null)
                .recover(
                    nobody ->
                        Future.failedFuture(
                            UNAVAILABLE.error(
                                "no node answers at "
                                    + seeds
                                    + ": start one there, or name another")))
                .compose(
                    view ->
                        view.metaLeader() == null
                            ? Future.failedFuture(
                                UNAVAILABLE.error("nobody leads the meta log of the cluster now"))
                            : new PeerCalls(vertx)
                                .ask(
                                    view.metaLeader(),
                                    "request-join",
                                    question,
                                    Accepted.class,
                                    ANSWER_MILLIS_MAX))
                .<Void>mapEmpty()
                .toCompletionStage());
  }

  @Override
  public void serve(SnapshotSource own) {
    snapshots = own;
  }

  @Override
  public SnapshotSource snapshotsOf(String other) {
    return new SnapshotCalls(bus, other);
  }

  @Override
  public void waitingFor(String reason, boolean hint) {
    boolean changed = reason != null && !reason.equals(readiness.obstacle());
    readiness.setObstacle(reason);
    long now = System.nanoTime();
    if (reason != null
        && (changed || now - toldAtNanos > TimeUnit.MILLISECONDS.toNanos(TELL_AGAIN_MILLIS))) {
      toldAtNanos = now;
      LOG.info("node {}: {}", node, reason);
    }
    if (reason != null && hint && !reason.equals(hinted)) {
      hinted = reason;
      hints.accept(reason);
    }
  }

  /** The node does not wait for this any more; it may wait for something else. */
  public void waitsNoMore(String reason) {
    readiness.overcome(reason);
  }

  @Override
  public synchronized Invitation awaitInvitation(long millisMax)
      throws LogStartException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millisMax);
    while (invitation == null && !closed) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (left <= 0) {
        return null;
      }
      wait(left);
    }
    if (closed) {
      throw new LogStartException("the node was stopped before it could serve");
    }
    Invitation accepted = invitation;
    invitation = null;
    return accepted;
  }

  private Future<Buffer> answer(Buffer request) {
    return questions.answer(request.toJsonObject(), null);
  }

  private JsonQuestions<Void, Future<Buffer>> questions() {
    JsonQuestions<Void, Future<Buffer>> all = new JsonQuestions<>();
    now(all, "card", Plain.class, asked -> own());
    now(all, ClockLoop.ACTION, Plain.class, asked -> ClockLoop.answer(opened().clock()));
    now(all, "join", Join.class, this::join);
    on(all, "removeVoters", ChangeVoters.class, this::removeVoters);
    on(all, "addVoter", ChangeVoters.class, this::addVoter);
    on(all, "addListener", ChangeVoters.class, this::addListener);
    on(all, "replace", OfNode.class, asked -> replace(asked.node()));
    all.on(
        SnapshotCalls.FILES, OfGroup.class, (asked, no) -> SnapshotCalls.files(snapshots(), asked));
    all.on(
        SnapshotCalls.READ,
        SnapshotSource.Chunk.class,
        (asked, no) -> SnapshotCalls.read(snapshots(), asked));
    now(all, "replacement", Plain.class, asked -> replacement());
    on(all, "request-join", RequestJoin.class, asked -> placement().requestJoin(asked));
    now(all, "known", OfNode.class, asked -> placement().known(asked.node()));
    for (String action : List.of("drain", "undrain", "remove", "admit")) {
      on(all, action, OfNode.class, asked -> placement().change(action, checked(asked)));
    }
    now(all, "membership", OfNode.class, asked -> placement().asked(checked(asked)));
    now(all, "placement", Plain.class, asked -> placement().placement());
    now(all, "removed", Removed.class, this::removed);
    on(all, "dropCopy", DropCopy.class, this::dropCopy);
    return all;
  }

  private static <Q extends Record> void on(
      JsonQuestions<Void, Future<Buffer>> all,
      String action,
      Class<Q> type,
      Function<Q, Future<? extends Record>> answer) {
    all.on(action, type, (asked, no) -> answer.apply(asked).map(Membership::framed));
  }

  private static <Q extends Record> void now(
      JsonQuestions<Void, Future<Buffer>> all,
      String action,
      Class<Q> type,
      Function<Q, Record> answer) {
    on(all, action, type, asked -> Future.succeededFuture(answer.apply(asked)));
  }

  private Future<Changed> removeVoters(ChangeVoters asked) {
    LogGroup group = group(asked.group());
    requireVoters(group, asked.seen());
    return change(
        group.voters().remove(asked.node(), asked.voter()), () -> group.status().commitIndex());
  }

  private Future<Changed> addVoter(ChangeVoters asked) {
    placement().requireStays(asked.voter());
    return change(group(asked.group()).voters().add(asked.voter()));
  }

  private Future<Changed> addListener(ChangeVoters asked) {
    placement().requireStays(asked.voter());
    return change(group(asked.group()).voters().addListener(asked.voter()));
  }

  private Future<Changed> dropCopy(DropCopy asked) {
    long above = asked.above() == null ? -1 : asked.above();
    return change(log().dropCopy(group(asked.group()), above));
  }

  /** What was decided for other voters than those that there are now must not be done. */
  private static void requireVoters(LogGroup group, List<String> seen) {
    if (seen == null) {
      return;
    }
    if (!Set.copyOf(seen).equals(Set.copyOf(group.voters().names()))) {
      throw UNAVAILABLE.error(
          "log group %s has the voters %s, and the request is for %s",
          group.name(), group.voters().names(), seen);
    }
  }

  private SnapshotSource snapshots() {
    return started(snapshots);
  }

  private PlacementLoop placement() {
    return started(placement);
  }

  private static String checked(OfNode asked) {
    return Names.check("node", asked.node());
  }

  private Accepted removed(Removed asked) {
    if (!log().clusterId().equals(asked.clusterId())) {
      throw INVALID.error("node " + node + " belongs to another cluster");
    }
    follower.removed();
    return new Accepted(true);
  }

  private static Buffer framed(Record answer) {
    return Frames.answer(RecordJson.json(answer).toBuffer().getBytes());
  }

  private Peer own() {
    NodeInfo known = started(info);
    BrokerNode opened = broker;
    Set<String> ineligible =
        opened == null
            ? Set.of()
            : opened.log().all().stream()
                .filter(group -> !group.elections().eligibility().eligible())
                .map(LogGroup::name)
                .collect(Collectors.toSet());
    return new Peer(
        known,
        dispatcher,
        serving,
        ineligible,
        place,
        FeatureLevel.reads(),
        copying(opened),
        holds(opened),
        leads(opened));
  }

  private static Map<String, Peer.Led> leads(BrokerNode opened) {
    Map<String, Peer.Led> leads = new TreeMap<>();
    if (opened != null) {
      for (LogGroup group : opened.log().all()) {
        if (group.leadership().ready()) {
          leads.put(
              group.name(),
              new Peer.Led(
                  Set.copyOf(group.voters().names()),
                  Set.copyOf(group.voters().listeners()),
                  opened.bytes(group)));
        }
      }
    }
    return leads;
  }

  private static Set<String> holds(BrokerNode opened) {
    return opened == null
        ? Set.of()
        : opened.log().all().stream()
            .filter(group -> group.copy().exists())
            .map(LogGroup::name)
            .collect(Collectors.toSet());
  }

  /** The bytes that this node still lacks of each log group that it copies. */
  private static Map<String, Long> copying(BrokerNode opened) {
    Map<String, Long> copying = new TreeMap<>();
    if (opened != null) {
      for (LogGroup group : opened.log().all()) {
        SnapshotTransfer transfer = group.copy().snapshotTransfer();
        if (transfer.from() != null) {
          copying.put(group.name(), transfer.bytesTotal() - transfer.bytesHere());
        }
      }
    }
    return copying;
  }

  private synchronized Accepted join(Join asked) {
    NodeInfo known = own().info();
    if (known.stage() != Stage.WAITING || !known.incarnation().equals(asked.incarnation())) {
      throw UNAVAILABLE.error("node " + node + " does not wait to be taken in any more");
    }
    List<LogSettings.Peer> places =
        asked.nodes().stream()
            .map(
                each -> new LogSettings.Peer(each.node(), each.host(), NodePorts.raft(each.port())))
            .toList();
    invitation = new Invitation(asked.clusterId(), asked.dataGroups(), known.incarnation(), places);
    notifyAll();
    return new Accepted(true);
  }

  private LogNode log() {
    return opened().log();
  }

  private BrokerNode opened() {
    return started(broker);
  }

  /** The part, which is null until the node has come so far. */
  private <T> T started(T part) {
    if (part == null) {
      throw UNAVAILABLE.error("node " + node + " is starting");
    }
    return part;
  }

  private LogGroup group(String name) {
    return log().all().stream()
        .filter(group -> group.name().equals(name))
        .findFirst()
        .orElseThrow(() -> INVALID.error("no log group " + name));
  }

  /** Answers in time even if the change is still running: then the asker asks again. */
  private Future<Changed> change(CompletableFuture<Void> change) {
    return change(change, () -> null);
  }

  /**
   * @param commit gives the index up to which entries are committed after the change; null: unknown
   */
  private Future<Changed> change(CompletableFuture<Void> change, Supplier<Long> commit) {
    Promise<Boolean> answer = Promise.promise();
    long timer = bus.join().setTimer(ANSWER_MILLIS_MAX, fired -> answer.tryComplete(false));
    Future.<Void>fromCompletionStage(change, context)
        .onComplete(
            done -> answer.tryComplete(true),
            failure -> {
              boolean underWay =
                  failure instanceof RefusedException refused && refused.refusal() == OVERLOADED;
              if (underWay) {
                answer.tryComplete(false);
              } else {
                answer.tryFail(Answers.unwrap(failure));
              }
            });
    return answer
        .future()
        .onComplete(any -> bus.join().cancelTimer(timer))
        .map(finished -> new Changed(finished, commit.get()));
  }

  private ReplacementView replacement() {
    return replacement == null
        ? new ReplacementView(null, ReplacementView.State.NONE, null)
        : replacement.view();
  }

  private Future<ReplacementView> replace(String lost) {
    LogNode log = log();
    if (!log.meta().leadership().ready()) {
      String leader = log.meta().leadership().leader();
      throw new RefusedException.NotLeader(leader);
    }
    if (replacement != null && replacement.running()) {
      throw OVERLOADED.error(
          "the replacement of node '" + replacement.node() + "' is under way: wait for its end");
    }
    return calls
        .peer(lost)
        .otherwise((Peer) null)
        .compose(
            answer -> {
              List<String> voters = new ArrayList<>();
              List<String> everywhere = new ArrayList<>(log.meta().voters().names());
              everywhere.addAll(log.meta().voters().listeners());
              Map<String, List<String>> placement = broker.meta().tables().placement();
              for (LogGroup group : log.all()) {
                voters.addAll(group.voters().names());
                // Of log groups without a vote here, the placement sees to it.
                if (Replacement.isToVote(placement, group, lost)
                    && !group.voters().names().isEmpty()) {
                  everywhere.retainAll(group.voters().names());
                }
              }
              Replacement.check(lost, log.nodes(), log.clusterId(), answer, voters, everywhere);
              if (replacement != null && replacement.running()) {
                throw OVERLOADED.error("another replacement has begun: wait for its end");
              }
              replacement =
                  new Replacement(
                      calls, log, broker.meta().tables().nodes(), Map.copyOf(placement), answer);
              Future<?> late = bus.join().timer(REPLACE_ANSWER_MILLIS_MAX, TimeUnit.MILLISECONDS);
              return Future.any(replacement.run(), late);
            })
        .map(ended -> replacement());
  }
}
