package dev.evenkeel.broker.member;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.OVERLOADED;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.api.ClusterStatusView.LogPlace;
import dev.evenkeel.api.NodeChangeView;
import dev.evenkeel.broker.member.PlacementSteps.Step;
import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.bus.MemberQuestions.Accepted;
import dev.evenkeel.bus.MemberQuestions.ChangeVoters;
import dev.evenkeel.bus.MemberQuestions.Changed;
import dev.evenkeel.bus.MemberQuestions.DropCopy;
import dev.evenkeel.bus.MemberQuestions.Join;
import dev.evenkeel.bus.MemberQuestions.Known;
import dev.evenkeel.bus.MemberQuestions.PlaceOfNode;
import dev.evenkeel.bus.MemberQuestions.PlacedGroup;
import dev.evenkeel.bus.MemberQuestions.PlacedNode;
import dev.evenkeel.bus.MemberQuestions.Placement;
import dev.evenkeel.bus.MemberQuestions.Removed;
import dev.evenkeel.bus.MemberQuestions.RequestJoin;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.protocol.AddedLogGroup;
import dev.evenkeel.protocol.ClusterNode;
import dev.evenkeel.protocol.ClusterNode.State;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.NodePorts;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.VoterId;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * On the node that leads meta: takes nodes into the cluster and out of it, and does what {@link
 * PlacementSteps} decides, once a second. Everything it has to remember is in meta, so the next
 * leader goes on where this one ends. Runs on one context.
 */
final class PlacementLoop {
  private static final Logger LOG = LoggerFactory.getLogger(PlacementLoop.class);
  private static final long LOOK_MILLIS = 1_000;
  private static final long STEP_MILLIS_MAX = 8_000;

  private final PeerCalls calls;
  private final BrokerNode node;
  private final LogNode log;
  private final Supplier<Peer> own;
  private final BooleanSupplier replacing;
  private final Context context;

  // On the context only.
  private final Map<String, Step> underWay = new HashMap<>();
  private Map<String, Peer> cards = Map.of();
  private final Map<String, PlacementSteps.Group> seen = new HashMap<>();
  private Map<String, String> waits = Map.of();
  private final Map<String, String> failures = new TreeMap<>();

  /** The last step about each log group or node: a repeated one is not logged again. */
  private final Map<String, Step> logged = new HashMap<>();

  private final Map<String, Pace> paces = new HashMap<>();
  private Future<Void> lastPut = Future.succeededFuture();
  private boolean looking;
  private volatile boolean stopped;
  private volatile long timer = -1;

  /** How fast the bytes that a node gets or gives away become fewer. */
  private record Pace(long sinceNanos, long bytesThen) {}

  /**
   * @param own what this node says of itself
   * @param replacing whether a node is being replaced: nothing else changes meanwhile
   */
  PlacementLoop(
      PeerCalls calls,
      BrokerNode node,
      Supplier<Peer> own,
      BooleanSupplier replacing,
      Context context) {
    this.calls = calls;
    this.node = node;
    this.log = node.log();
    this.own = own;
    this.replacing = replacing;
    this.context = context;
  }

  void start() {
    timer = calls.vertx().setPeriodic(LOOK_MILLIS, id -> context.runOnContext(ignored -> look()));
  }

  void stop() {
    stopped = true;
    calls.vertx().cancelTimer(timer);
  }

  private Collection<ClusterNode> nodes() {
    return node.meta().tables().nodes();
  }

  private boolean leads() {
    return log.meta().leadership().ready();
  }

  private void requireLeader() {
    if (!leads()) {
      throw new RefusedException.NotLeader(log.meta().leadership().leader());
    }
  }

  /** An empty node asks to be taken in. */
  Future<Accepted> requestJoin(RequestJoin asked) {
    requireLeader();
    String id = asked.node();
    int level = node.meta().tables().featureLevel();
    int reads = asked.level() == null ? FeatureLevel.FIRST : asked.level();
    if (reads < level) {
      throw INVALID.error(
          "the cluster is at feature level %s, and node %s reads up to %s: start it with the"
              + " version of the other nodes",
          level, id, reads);
    }
    String voter = VoterId.of(id, asked.incarnation());
    for (LogGroup group : log.all()) {
      for (String other :
          Stream.concat(group.voters().names().stream(), group.voters().listeners().stream())
              .toList()) {
        if (VoterId.node(other).equals(id) && !other.equals(voter)) {
          throw INVALID.error(
              "the cluster has a node '%s' with data: give the new node another id, or"
                  + " run 'evenkeel cluster replace %s' if the old one is lost for good",
              id, id);
        }
      }
    }
    ClusterNode before = node.meta().tables().node(id);
    if (before != null && before.state() != State.ADMITTED && before.state() != State.MEMBER) {
      throw UNAVAILABLE.error("node '%s' is leaving the cluster: wait for its end", id);
    }
    ClusterNode joined = Peer.member(id, asked.place());
    return recorded()
        .compose(done -> put(id, known -> joining(known, joined)))
        .onSuccess(done -> LOG.info("node {} joins the cluster from {}", id, asked.place()))
        .map(done -> new Accepted(true));
  }

  private static ClusterNode joining(ClusterNode known, ClusterNode joined) {
    boolean waits = known == null || known.state() == State.ADMITTED;
    ClusterNode changed = waits ? joined : joined.with(known.state());
    return changed.equals(known) ? null : changed;
  }

  /** Whether a directory belongs to a node of the cluster; a removed one does not. */
  Known known(String id) {
    requireLeader();
    boolean known =
        nodes().isEmpty()
            || node.meta().tables().node(id) != null && node.meta().tables().node(id).joined();
    return new Known(known);
  }

  /** Begins to drain or remove a node, ends its draining, or lets a node join. */
  Future<NodeChangeView> change(String action, String id) {
    requireLeader();
    if (replacing.getAsBoolean()) {
      throw OVERLOADED.error("a node is being replaced: wait for its end");
    }
    ClusterNode known = node.meta().tables().node(id);
    if (action.equals("admit")) {
      return known != null || nodes().isEmpty() && log.nodes().contains(id)
          ? Future.succeededFuture(status(id))
          : recorded()
              .compose(done -> put(id, before -> before == null ? admitted(id) : null))
              .map(done -> status(id));
    }
    if (known == null && !(nodes().isEmpty() && log.nodes().contains(id))) {
      if (action.equals("remove") && !nodes().isEmpty()) {
        // The command was run again after its end.
        return Future.succeededFuture(status(id));
      }
      throw INVALID.error("there is no node '%s': the nodes are %s", id, log.nodes());
    }
    if (known != null && known.state() == State.ADMITTED) {
      return submit(new MetaCommand.RemoveNode(id)).map(done -> status(id));
    }
    State state =
        switch (action) {
          case "drain" -> State.DRAINING;
          case "undrain" -> State.MEMBER;
          default -> State.LEAVING;
        };
    if (known != null && known.state() == State.LEAVING && state != State.LEAVING) {
      throw INVALID.error("node '%s' is leaving the cluster: wait for its end", id);
    }
    if (state != State.MEMBER && !othersTake(id)) {
      throw INVALID.error("node '%s' is the only one that keeps data: add another node first", id);
    }
    return recorded()
        .compose(done -> put(id, before -> leaving(before) ? null : before.with(state)))
        .map(
            done -> {
              LOG.info("node {} is {} from now on", id, state);
              look();
              return status(id);
            });
  }

  private static ClusterNode admitted(String id) {
    return new ClusterNode(id, "", 0, "", State.ADMITTED);
  }

  private static boolean leaving(ClusterNode known) {
    return known == null || known.state() == State.LEAVING;
  }

  private boolean othersTake(String id) {
    return nodes().isEmpty()
        ? log.nodes().size() > 1
        : nodes().stream().anyMatch(each -> each.state() == State.MEMBER && !each.id().equals(id));
  }

  /**
   * Records a change of a node as it is once all changes before this one are recorded: what is
   * known of a node now may be changed by one that is on its way.
   *
   * @param change takes the node, or null if there is none, and returns null to change nothing
   */
  private Future<Void> put(String id, UnaryOperator<ClusterNode> change) {
    lastPut =
        lastPut
            .otherwiseEmpty()
            .compose(
                done -> {
                  ClusterNode changed = change.apply(node.meta().tables().node(id));
                  return changed == null
                      ? Future.succeededFuture()
                      : submit(new MetaCommand.PutNodes(List.of(changed)));
                });
    return lastPut;
  }

  /** Records the nodes that the cluster was formed with, if it has no records yet. */
  private Future<Void> recorded() {
    if (!nodes().isEmpty()) {
      return Future.succeededFuture();
    }
    return calls
        .peers(log.others())
        .compose(
            answers -> {
              List<ClusterNode> formed = new ArrayList<>();
              for (LogSettings.Peer peer : log.peers()) {
                Peer card =
                    peer.nodeId().equals(log.nodeId()) ? own.get() : answers.get(peer.nodeId());
                formed.add(
                    card != null && card.place() != null
                        ? Peer.member(peer.nodeId(), card.place())
                        : new ClusterNode(
                            peer.nodeId(),
                            peer.host(),
                            NodePorts.baseOfRaft(peer.raftPort()),
                            "",
                            State.MEMBER));
              }
              return submit(new MetaCommand.PutNodes(formed));
            });
  }

  private Future<Void> submit(MetaCommand command) {
    return Future.fromCompletionStage(
            log.meta().append(Entry.of(command, node.nowMillis())), context)
        .map(
            answer -> {
              if (ReplyCodec.decode(answer) instanceof Reply.Refused refused) {
                throw refused.exception();
              }
              return null;
            });
  }

  private void look() {
    if (looking || stopped || !leads() || nodes().isEmpty() || replacing.getAsBoolean()) {
      return;
    }
    looking = true;
    List<String> asked =
        nodes().stream()
            .filter(ClusterNode::joined)
            .map(ClusterNode::id)
            .filter(id -> !id.equals(log.nodeId()))
            .toList();
    calls
        .peers(asked)
        .onComplete(
            answers ->
                context.runOnContext(
                    ignored -> {
                      looking = false;
                      if (!stopped && answers.succeeded()) {
                        Map<String, Peer> all = new TreeMap<>(answers.result());
                        all.put(log.nodeId(), own.get());
                        cards = all;
                        act();
                      }
                    }));
  }

  /**
   * The log groups as their leaders see them; those that nobody leads are as they were seen last.
   */
  private List<PlacementSteps.Group> groups() {
    cards.forEach(
        (id, card) ->
            card.leads()
                .forEach(
                    (name, led) ->
                        seen.put(
                            name,
                            new PlacementSteps.Group(
                                name, led.voters(), led.listeners(), id, led.bytes()))));
    Collection<AddedLogGroup> added = node.meta().tables().addedGroups();
    Map<String, PlacementSteps.Group> known = new HashMap<>();
    for (AddedLogGroup each : added) {
      // This node may not have opened it yet, or may have no vote in it.
      String name = ShardGroups.name(each.index());
      known.put(
          name, new PlacementSteps.Group(name, Set.copyOf(each.founders()), Set.of(), null, 0));
    }
    for (LogGroup group : log.all()) {
      if (!group.voters().names().isEmpty()) {
        known.put(
            group.name(),
            new PlacementSteps.Group(
                group.name(),
                Set.copyOf(group.voters().names()),
                Set.copyOf(group.voters().listeners()),
                null,
                node.bytes(group)));
      }
    }
    known.putAll(seen);
    return Stream.concat(
            log.all().stream().map(LogGroup::name),
            added.stream().map(each -> ShardGroups.name(each.index())))
        .distinct()
        .filter(known::containsKey)
        .map(name -> known.get(name).ledBy(leader(name)))
        .toList();
  }

  /** The node that leads a log group, or null. */
  private String leader(String group) {
    return log.all().stream()
        .filter(each -> each.name().equals(group))
        .findFirst()
        .map(each -> each.leadership().leader())
        .orElse(null);
  }

  private void act() {
    PlacementSteps.Next next =
        PlacementSteps.next(
            new PlacementSteps.Sight(
                nodes(),
                node.meta().tables().placement(),
                groups(),
                cards,
                log.clusterId(),
                log.formedGroups(),
                node.meta().tables().addedGroups()));
    waits = next.waits();
    next.steps().forEach(this::take);
  }

  /** One step for each log group or node at a time. */
  private void take(Step step) {
    String about = about(step);
    if (underWay.putIfAbsent(about, step) != null) {
      return;
    }
    if (!step.equals(logged.put(about, step))) {
      LOG.info("placement: {}", step);
    }
    run(step)
        .onComplete(
            done ->
                context.runOnContext(
                    ignored -> {
                      underWay.remove(about);
                      if (done.succeeded()) {
                        failures.remove(about);
                      } else {
                        String why = RefusedException.of(done.cause()).getMessage();
                        if (!why.equals(failures.put(about, why))) {
                          LOG.info("placement: {} waits: {}", step, why);
                        }
                      }
                    }));
  }

  private static String about(Step step) {
    if (step instanceof Step.Put put) {
      return put.node().id();
    } else if (step instanceof Step.Invite invite) {
      return invite.node();
    } else if (step instanceof Step.Place place) {
      return place.group();
    } else if (step instanceof Step.AddVoter add) {
      return add.group();
    } else if (step instanceof Step.AddListener) {
      return LogNode.META;
    } else if (step instanceof Step.RemoveVoter remove) {
      return remove.group();
    } else if (step instanceof Step.DropCopy drop) {
      return drop.group();
    } else if (step instanceof Step.AddLogGroup add) {
      return ShardGroups.name(add.index());
    } else if (step instanceof Step.OpenLogGroup open) {
      return ShardGroups.name(open.index());
    }
    return ((Step.Forget) step).node();
  }

  private Future<?> run(Step step) {
    if (step instanceof Step.Put put) {
      return put(
          put.node().id(), before -> before == null ? null : put.node().with(before.state()));
    } else if (step instanceof Step.Invite invite) {
      return calls.ask(
          invite.node(),
          "join",
          invitation(log, invite.incarnation(), nodes()),
          Accepted.class,
          STEP_MILLIS_MAX);
    } else if (step instanceof Step.Place place) {
      return submit(new MetaCommand.PlaceLogGroup(place.group(), place.nodes()));
    } else if (step instanceof Step.AddVoter add) {
      return voters(add.group(), "addVoter", add.voter(), VoterId.node(add.voter()), null);
    } else if (step instanceof Step.AddListener add) {
      return voters(
          LogNode.META, "addListener", add.listener(), VoterId.node(add.listener()), null);
    } else if (step instanceof Step.RemoveVoter remove) {
      return voters(remove.group(), "removeVoters", null, remove.node(), remove.seen());
    }
    if (step instanceof Step.AddLogGroup add) {
      return submit(new MetaCommand.AddLogGroup(add.index(), add.founders()));
    } else if (step instanceof Step.OpenLogGroup open) {
      return submit(new MetaCommand.OpenLogGroup(open.index()));
    }
    if (step instanceof Step.DropCopy drop) {
      // The leader confirms that the node has no vote.
      return voters(drop.group(), "removeVoters", null, drop.node(), drop.seen())
          .compose(
              answer ->
                  answer.done()
                      ? calls.ask(
                          drop.node(),
                          "dropCopy",
                          new DropCopy(drop.group(), answer.commit()),
                          Changed.class,
                          STEP_MILLIS_MAX)
                      : Future.failedFuture(UNAVAILABLE.error("a change is under way")));
    }
    Step.Forget forget = (Step.Forget) step;
    String id = forget.node();
    // The leaders confirm that the node has no vote, and that none is on its way to it.
    List<Future<Changed>> confirmed = new ArrayList<>();
    forget
        .seen()
        .forEach((group, seen) -> confirmed.add(voters(group, "removeVoters", null, id, seen)));
    return Future.all(confirmed)
        .compose(
            all ->
                all.<Changed>list().stream().allMatch(Changed::done)
                    ? submit(new MetaCommand.RemoveNode(id))
                    : Future.failedFuture(UNAVAILABLE.error("a change of voters is under way")))
        .onSuccess(done -> LOG.info("node {} is not in the cluster any more", id))
        .compose(done -> tellRemoved(id));
  }

  /** One that does not answer asks later by itself. */
  private Future<?> tellRemoved(String id) {
    return calls
        .ask(id, "removed", new Removed(log.clusterId()), Accepted.class, STEP_MILLIS_MAX)
        .otherwiseEmpty();
  }

  /**
   * @param seen the voters that there must be; null: any
   */
  private Future<Changed> voters(
      String group, String action, String voter, String id, Set<String> seen) {
    String leader = leader(group);
    if (leader == null) {
      return Future.failedFuture(UNAVAILABLE.error("nobody leads log group " + group));
    }
    return calls.ask(
        leader,
        action,
        new ChangeVoters(group, id, voter, seen == null ? null : List.copyOf(seen)),
        Changed.class,
        STEP_MILLIS_MAX);
  }

  /** Refuses a vote for a node that is to leave: whoever gives it may not know that yet. */
  void requireStays(String voter) {
    ClusterNode known = node.meta().tables().node(VoterId.node(voter));
    if (known != null && known.state() == State.LEAVING) {
      throw UNAVAILABLE.error("node %s is leaving the cluster", known.id());
    }
  }

  /** The question that takes an empty node in. */
  static Join invitation(LogNode log, String incarnation, Collection<ClusterNode> nodes) {
    List<PlaceOfNode> places =
        nodes.stream()
            .filter(ClusterNode::joined)
            .map(each -> new PlaceOfNode(each.id(), each.host(), each.port()))
            .toList();
    return new Join(log.clusterId(), log.formedGroups(), incarnation, places);
  }

  /** How far a node is on its way into the cluster, or out of it. */
  NodeChangeView status(String id) {
    ClusterNode known = node.meta().tables().node(id);
    if (known == null || known.state() == State.ADMITTED) {
      boolean formed = known == null && nodes().isEmpty() && log.nodes().contains(id);
      NodeChangeView.Membership membership =
          formed
              ? NodeChangeView.Membership.MEMBER
              : known == null ? NodeChangeView.Membership.NONE : NodeChangeView.Membership.ADMITTED;
      return new NodeChangeView(id, NodeChangeView.State.DONE, membership, Map.of(), null, null);
    }
    boolean gives = known.state() == State.DRAINING || known.state() == State.LEAVING;
    Map<String, String> left = new LinkedHashMap<>();
    long bytes = 0;
    for (PlacementSteps.Group group : groups()) {
      boolean votes = group.nodes().contains(id);
      List<String> placed = node.meta().tables().placement().get(group.name());
      boolean stays = known.state() == State.DRAINING && group.name().equals(LogNode.META);
      boolean due = gives ? votes && !stays : placed != null && placed.contains(id) && !votes;
      if (due) {
        left.put(group.name(), wait(group.name(), id));
        Peer card = cards.get(id);
        bytes +=
            gives || card == null
                ? group.bytes()
                : card.copying().getOrDefault(group.name(), group.bytes());
      }
    }
    boolean done = left.isEmpty() && known.state() != State.LEAVING && !waits.containsKey(id);
    if (done) {
      paces.remove(id);
    }
    return new NodeChangeView(
        id,
        done ? NodeChangeView.State.DONE : NodeChangeView.State.RUNNING,
        NodeChangeView.Membership.valueOf(known.state().name()),
        left,
        new NodeChangeView.Estimate(bytes, done ? null : secondsLeft(id, bytes)),
        waits.get(id));
  }

  /** Null as long as nothing can be said. */
  private Long secondsLeft(String id, long bytes) {
    Pace pace = paces.get(id);
    if (pace == null || pace.bytesThen() < bytes) {
      paces.put(id, new Pace(System.nanoTime(), bytes));
      return null;
    }
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - pace.sinceNanos());
    long moved = pace.bytesThen() - bytes;
    return seconds < 2 || moved <= 0 ? null : (Long) (bytes * seconds / moved);
  }

  private String wait(String group, String id) {
    String failed = failures.get(group);
    String waited = waits.get(group);
    if (waited != null || failed != null) {
      return waited == null ? failed : waited;
    }
    Step step = underWay.get(group);
    boolean copies = step instanceof Step.AddVoter add && VoterId.node(add.voter()).equals(id);
    return copies ? "copying" : "waiting";
  }

  /** The same for whoever asks. */
  NodeChangeView asked(String id) {
    requireLeader();
    return status(id);
  }

  /** Where the log groups are to be, and which nodes there are; for people. */
  Placement placement() {
    requireLeader();
    Set<String> ids = new TreeSet<>(log.nodes());
    nodes().forEach(each -> ids.add(each.id()));
    List<PlacedGroup> places = new ArrayList<>();
    for (PlacementSteps.Group group : groups()) {
      LogPlace place =
          new LogPlace(
              List.copyOf(group.nodes()),
              group.listeners().stream().map(VoterId::node).sorted().toList(),
              node.meta().tables().placement().get(group.name()),
              waits.get(group.name()));
      places.add(new PlacedGroup(group.name(), place));
    }
    return new Placement(ids.stream().map(this::placed).toList(), places);
  }

  private PlacedNode placed(String id) {
    ClusterNode known = node.meta().tables().node(id);
    List<PlacementSteps.Group> voting =
        groups().stream().filter(group -> group.nodes().contains(id)).toList();
    return new PlacedNode(
        status(id),
        known == null ? null : known.zone(),
        voting.size(),
        voting.stream().mapToLong(PlacementSteps.Group::bytes).sum());
  }
}
