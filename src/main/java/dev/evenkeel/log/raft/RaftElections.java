package dev.evenkeel.log.raft;

import static dev.evenkeel.protocol.Refusal.INVALID;

import dev.evenkeel.log.Elections;
import dev.evenkeel.log.Eligibility;
import dev.evenkeel.log.Leadership;
import dev.evenkeel.protocol.VoterId;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.impl.LeaseCheck;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Who leads a log group, as its division knows or another node has said. */
final class RaftElections implements Elections {
  private static final Logger LOG = LoggerFactory.getLogger(RaftElections.class);

  /** After this much silence, a node that follows without a vote no longer names the leader. */
  private static final long LISTENER_SILENCE_MILLIS_MAX = 3_000;

  /** For this time a new leader that should not lead does not serve, but looks for another. */
  private static final long YIELD_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final String group;
  private final String nodeId;
  private final RaftDivision division;
  private final Executor executor;
  private final List<Consumer<Leadership>> listeners = new CopyOnWriteArrayList<>();
  private final Eligibility eligibility = new Eligibility();
  private volatile Leadership leadership = Leadership.UNKNOWN;

  /** What another node has said. */
  private volatile Leadership heard = Leadership.UNKNOWN;

  /**
   * The term in which this node began to look for another leader, and since when; on the executor.
   */
  private long yieldingTerm = -1;

  private long yieldingSinceNanos;

  /**
   * @param executor one thread, which calls listeners
   */
  RaftElections(String group, String nodeId, RaftDivision division, Executor executor) {
    this.group = group;
    this.nodeId = nodeId;
    this.division = division;
    this.executor = executor;
  }

  @Override
  public Leadership leadership() {
    Leadership known = leadership;
    // Stopping counts at once, even before the listeners hear of it.
    return division.isStopped() ? new Leadership(null, known.term(), false) : known;
  }

  @Override
  public boolean leadsForSure() {
    RaftServer.Division running = division.running();
    return leadership().ready() && running != null && LeaseCheck.hasLease(running);
  }

  @Override
  public void onLeadership(Consumer<Leadership> listener) {
    listeners.add(listener);
  }

  @Override
  public void offLeadership(Consumer<Leadership> listener) {
    listeners.remove(listener);
  }

  @Override
  public Eligibility eligibility() {
    return eligibility;
  }

  @Override
  public CompletableFuture<Void> handLeadershipTo(String next) {
    return division.voters().stream()
        .filter(peer -> VoterId.node(peer.getId().toString()).equals(next))
        .findFirst()
        .map(peer -> division.transferLeadership(peer.getId()))
        .orElseGet(
            () ->
                CompletableFuture.failedFuture(
                    INVALID.error("node '%s' has no vote in the log group %s", next, group)));
  }

  @Override
  public void heard(String leader, long term) {
    if (term > heard.term() && term >= leadership.term() && !leader.equals(nodeId)) {
      heard = new Leadership(leader, term, false);
      executor.execute(this::look);
    }
  }

  /** Finds out who leads, and calls the listeners if that has changed. On the executor only. */
  void look() {
    Leadership own = ofDivision();
    Leadership said = heard;
    boolean knowsMore =
        said.term() > own.term() || said.term() == own.term() && own.leader() == null;
    Leadership now = knowsMore && !division.isStopped() ? said : own;
    if (now.equals(leadership)) {
      return;
    }
    leadership = now;
    LOG.info("log group {}: {}", group, now);
    listeners.forEach(listener -> tell(listener, now));
  }

  private static void tell(Consumer<Leadership> listener, Leadership now) {
    try {
      listener.accept(now);
    } catch (RuntimeException e) {
      LOG.error("a leadership listener failed", e);
    }
  }

  private Leadership ofDivision() {
    RaftServer.Division running = division.running();
    if (running == null) {
      return Leadership.UNKNOWN;
    }
    DivisionInfo info = running.getInfo();
    long term = info.getCurrentTerm();
    if (division.isStopped() || !info.isAlive()) {
      return new Leadership(null, term, false);
    }
    RaftPeerId leader = isForsaken(info) ? null : info.getLeaderId();
    return new Leadership(
        leader == null ? null : VoterId.node(leader.toString()),
        term,
        info.isLeader() && info.isLeaderReady() && !yields(term));
  }

  /** One without a vote never gives its leader up by itself. */
  private static boolean isForsaken(DivisionInfo info) {
    return info.isListener()
        && info.getRoleInfoProto().getFollowerInfo().getLeaderInfo().getLastRpcElapsedTimeMs()
            > LISTENER_SILENCE_MILLIS_MAX;
  }

  /**
   * Whether a new leader waits with serving because it should not lead: moments later another does,
   * and nobody has begun to rely on this one. Who serves already goes on until then.
   */
  private boolean yields(long term) {
    boolean serves = leadership.ready() && leadership.term() == term;
    if (eligibility.eligible() || serves || division.voters().size() == 1) {
      return false;
    }
    long now = System.nanoTime();
    if (term != yieldingTerm) {
      yieldingTerm = term;
      yieldingSinceNanos = now;
    }
    return now - yieldingSinceNanos < YIELD_NANOS;
  }
}
