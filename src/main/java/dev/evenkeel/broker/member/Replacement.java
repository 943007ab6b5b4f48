package dev.evenkeel.broker.member;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.api.ReplacementView;
import dev.evenkeel.bus.MemberQuestions.Accepted;
import dev.evenkeel.bus.MemberQuestions.ChangeVoters;
import dev.evenkeel.bus.MemberQuestions.Changed;
import dev.evenkeel.bus.MemberQuestions.Join;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.NodeInfo.Stage;
import dev.evenkeel.protocol.ClusterNode;
import dev.evenkeel.protocol.VoterId;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One replacement of a lost node, on the node that leads meta:
 *
 * <ol>
 *   <li>the leader of each log group removes the lost voter,
 *   <li>the empty node learns of the cluster and opens its logs without any voters,
 *   <li>the leader of each log group brings it up to date and makes it a voter.
 * </ol>
 *
 * <p>Every step may be repeated, so an interrupted replacement runs again from the start. The empty
 * node opens nothing before the lost voter is removed: a former leader that knows nothing of the
 * replacement could take it for the lost one.
 */
final class Replacement {
  private static final Logger LOG = LoggerFactory.getLogger(Replacement.class);
  private static final long PAUSE_MILLIS = 500;
  private static final long STEP_MILLIS_MAX = 8_000;

  /** A step without any sign of progress fails after this time. */
  private static final long STUCK_MILLIS_MAX = 45_000;

  /** How long a log group may take to bring the node up to date. */
  private static final long CATCH_UP_MILLIS_MAX = 3_600_000;

  private final PeerCalls calls;
  private final LogNode log;
  private final Collection<ClusterNode> nodes;
  private final Map<String, List<String>> placement;
  private final Peer taken;
  private final Map<String, ReplacementView.Step> progress =
      Collections.synchronizedMap(new LinkedHashMap<>());
  private volatile ReplacementView.State state = ReplacementView.State.RUNNING;
  private volatile String error;

  /**
   * @param nodes as recorded
   * @param placement which nodes are to vote in each log group, as recorded
   * @param taken the empty node, or one whose replacement was interrupted
   */
  Replacement(
      PeerCalls calls,
      LogNode log,
      Collection<ClusterNode> nodes,
      Map<String, List<String>> placement,
      Peer taken) {
    this.calls = calls;
    this.nodes = nodes;
    this.placement = placement;
    this.log = log;
    this.taken = taken;
    log.all().forEach(group -> progress.put(group.name(), ReplacementView.Step.WAITING));
  }

  /**
   * Refuses a replacement that cannot be done.
   *
   * @param voters names of all voters of any log group
   * @param answer what the node reports about itself, or null if it does not answer
   * @param everywhere names of the voters of every log group in which the node is to vote
   */
  static void check(
      String node,
      List<String> nodes,
      String clusterId,
      Peer answer,
      List<String> voters,
      List<String> everywhere) {
    if (!nodes.contains(node)) {
      throw INVALID.error("there is no node '" + node + "': the nodes are " + nodes);
    }
    if (answer == null || answer.info().stage() == Stage.EMPTY) {
      throw UNAVAILABLE.error(
          "no empty node is waiting under the name '"
              + node
              + "': start it with an empty data directory first");
    }
    if (answer.info().stage() == Stage.WAITING) {
      return;
    }
    if (!clusterId.equals(answer.info().clusterId())) {
      throw INVALID.error(
          "node '%s' runs with the data of another cluster: start it with an empty data "
              + "directory first",
          node);
    }
    String voter = answer.info().voter();
    boolean other =
        voters.stream().anyMatch(each -> VoterId.node(each).equals(node) && !each.equals(voter));
    if (everywhere.contains(voter) && !other) {
      throw INVALID.error("node '" + node + "' is alive and has its data: nothing to replace");
    }
  }

  /** Whether a node has, or is to have, a vote; in every log group that nothing is recorded of. */
  static boolean isToVote(Map<String, List<String>> placement, LogGroup group, String node) {
    List<String> recorded = placement.get(group.name());
    return recorded == null || recorded.contains(node);
  }

  String node() {
    return taken.info().node();
  }

  boolean running() {
    return state == ReplacementView.State.RUNNING;
  }

  ReplacementView view() {
    Map<String, ReplacementView.Step> groups;
    synchronized (progress) {
      groups = new LinkedHashMap<>(progress);
    }
    return new ReplacementView(node(), state, new ReplacementView.Progress(groups, error));
  }

  /** Never fails: how it ended is in {@link #view()}. */
  Future<Void> run() {
    String voter = taken.info().voter();
    LOG.info("replacing node {} by {}", node(), voter);
    List<Supplier<Future<Void>>> steps = new ArrayList<>();
    for (LogGroup group : log.all()) {
      steps.add(
          () -> change(group, "removeVoters", ReplacementView.Step.REMOVED, STUCK_MILLIS_MAX));
    }
    steps.add(this::join);
    for (LogGroup group : log.all()) {
      if (isToVote(placement, group, node())) {
        steps.add(() -> change(group, "addVoter", ReplacementView.Step.ADDED, CATCH_UP_MILLIS_MAX));
      } else if (group.name().equals(LogNode.META)) {
        steps.add(
            () -> change(group, "addListener", ReplacementView.Step.ADDED, CATCH_UP_MILLIS_MAX));
      }
    }
    Future<Void> all = Future.succeededFuture();
    for (Supplier<Future<Void>> step : steps) {
      all = all.compose(done -> step.get());
    }
    return all.onSuccess(
            done -> {
              state = ReplacementView.State.DONE;
              LOG.info("node {} has been replaced by {}", node(), voter);
            })
        .recover(
            failure -> {
              error = failure.getMessage() + "; run the command again";
              state = ReplacementView.State.FAILED;
              LOG.warn("replacing node {} failed: {}", node(), failure.getMessage());
              return Future.succeededFuture();
            });
  }

  private Future<Void> change(
      LogGroup group, String action, ReplacementView.Step outcome, long millisMax) {
    ChangeVoters question = new ChangeVoters(group.name(), node(), taken.info().voter(), null);
    return poll(
            () -> asked(group, action, question),
            millisMax,
            "the voters of the log group "
                + group.name()
                + " cannot be changed, a majority must"
                + " be up: %s")
        .onSuccess(done -> progress.put(group.name(), outcome));
  }

  /** Whether the leader of the group has made the change. */
  private Future<Boolean> asked(LogGroup group, String action, ChangeVoters question) {
    if (!log.nodeId().equals(log.meta().leadership().leader())) {
      throw UNAVAILABLE.error("this node, " + log.nodeId() + ", no longer leads the meta log");
    }
    String leader = group.leadership().leader();
    return leader == null
        ? failed("nobody leads it")
        : calls.ask(leader, action, question, Changed.class, STEP_MILLIS_MAX).map(Changed::done);
  }

  /**
   * Asks until the answer is yes. Gives up after {@code millisMax}, or when nobody has answered for
   * {@link #STUCK_MILLIS_MAX}.
   *
   * @param trouble what to say then; %s stands for the cause
   */
  private Future<Void> poll(Supplier<Future<Boolean>> question, long millisMax, String trouble) {
    long now = System.nanoTime();
    return poll(question, now, now, millisMax, trouble);
  }

  /**
   * @param begun when the change began, by {@link System#nanoTime()}
   * @param heard when somebody last answered
   */
  private Future<Void> poll(
      Supplier<Future<Boolean>> question, long begun, long heard, long millisMax, String trouble) {
    return question
        .get()
        .transform(
            answered -> {
              if (answered.succeeded() && answered.result()) {
                return Future.succeededFuture();
              }
              long now = System.nanoTime();
              long lastHeard = answered.succeeded() ? now : heard;
              if (now - lastHeard > TimeUnit.MILLISECONDS.toNanos(STUCK_MILLIS_MAX)
                  || now - begun > TimeUnit.MILLISECONDS.toNanos(millisMax)) {
                return failed(
                    trouble.formatted(
                        answered.failed() ? answered.cause().getMessage() : "it takes too long"));
              }
              return calls
                  .vertx()
                  .timer(PAUSE_MILLIS, TimeUnit.MILLISECONDS)
                  .compose(fired -> poll(question, begun, lastHeard, millisMax, trouble));
            });
  }

  private Future<Void> join() {
    if (taken.info().stage() != Stage.WAITING) {
      return Future.succeededFuture();
    }
    Join invitation = PlacementLoop.invitation(log, taken.info().incarnation(), nodes);
    return calls
        .ask(node(), "join", invitation, Accepted.class, STEP_MILLIS_MAX)
        .compose(
            accepted ->
                poll(
                    () -> calls.peer(node()).map(this::isOpen),
                    STUCK_MILLIS_MAX,
                    "node '" + node() + "' has not opened its logs"));
  }

  private boolean isOpen(Peer peer) {
    return peer.info().stage() == Stage.FORMED && peer.info().voter().equals(taken.info().voter());
  }

  private static <T> Future<T> failed(String message) {
    return Future.failedFuture(UNAVAILABLE.error(message));
  }
}
