package dev.evenkeel.log.raft;

import dev.evenkeel.log.Elections;
import dev.evenkeel.log.Follower;
import dev.evenkeel.log.Voters;
import dev.evenkeel.protocol.VoterId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.exceptions.ReconfigurationInProgressException;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;

/** The voters, listeners and followers of a log group, as its division knows them. */
final class RaftVoters implements Voters, ReplicaWatch.Engine {
  private final RaftDivision division;
  private final Elections elections;
  private final Function<String, RaftPeer> peers;

  /**
   * @param peers gives a voter and where its Raft port is
   */
  RaftVoters(RaftDivision division, Elections elections, Function<String, RaftPeer> peers) {
    this.division = division;
    this.elections = elections;
    this.peers = peers;
  }

  private static List<String> names(Collection<RaftPeer> peers) {
    return peers.stream().map(peer -> peer.getId().toString()).sorted().toList();
  }

  private static String nodeOf(RaftPeerId peer) {
    return VoterId.node(peer.toString());
  }

  @Override
  public List<String> names() {
    return names(division.voters());
  }

  @Override
  public List<String> listeners() {
    return names(division.listeners());
  }

  @Override
  public List<Follower> followers() {
    RaftServer.Division running = division.running();
    DivisionInfo info = running == null ? null : running.getInfo();
    long[] indices = info == null || !info.isLeader() ? null : info.getFollowerMatchIndices();
    if (indices == null) {
      return List.of();
    }
    List<ServerRpcProto> known = known(info);
    Set<RaftPeerId> voting = new HashSet<>();
    division.voters().forEach(peer -> voting.add(peer.getId()));
    List<Follower> followers = new ArrayList<>();
    for (int i = 0; i < Math.min(known.size(), indices.length); i++) {
      RaftPeerId peer = RaftPeerId.valueOf(known.get(i).getId().getId());
      if (voting.contains(peer)) {
        followers.add(
            new Follower(nodeOf(peer), indices[i], known.get(i).getLastRpcElapsedTimeMs()));
      }
    }
    return followers;
  }

  private static List<ServerRpcProto> known(DivisionInfo info) {
    return info.getRoleInfoProto().getLeaderInfo().getFollowerInfoList();
  }

  @Override
  public CompletableFuture<?> watch(long index) {
    return division.watch(index);
  }

  /**
   * A follower answers for entries once it has flushed them, so what it is known to have is on its
   * disk; of itself the leader counts what is flushed.
   */
  @Override
  public Map<String, Long> marks() {
    RaftServer.Division running = division.running();
    if (running == null || !running.getInfo().isLeader()) {
      return null;
    }
    Map<String, Long> marks = new HashMap<>();
    Map<String, Long> known = new HashMap<>();
    for (Follower follower : followers()) {
      // Two voters of one node, while one takes the other's place: both must have it.
      known.merge(follower.node(), follower.matchIndex(), Math::min);
    }
    for (RaftPeer voter : running.getRaftConf().getCurrentPeers()) {
      String node = nodeOf(voter.getId());
      long mark =
          division.isSelf(voter)
              ? running.getRaftLog().getFlushIndex()
              : known.getOrDefault(node, -1L);
      marks.merge(node, mark, Math::min);
    }
    return marks;
  }

  @Override
  public String leader() {
    String leader = elections.leadership().leader();
    return leader == null ? "" : leader;
  }

  /** Whether this node may have a vote: it follows a leader, or leads. */
  boolean hearsLeader() {
    RaftServer.Division running = division.running();
    return running != null
        && running.getInfo().isAlive()
        && running.getInfo().getLeaderId() != null
        && running.getRaftConf().getCurrentPeers().stream().anyMatch(division::isSelf);
  }

  /** Whether this node has a vote, or follows the log without one. */
  boolean isMember() {
    return division.peers().anyMatch(division::isSelf) && !takesItselfForAVoter();
  }

  /**
   * Whether the engine treats this node as one with a vote, though it is to follow without one: it
   * learns that only when it opens the log. It would stand for election, and then close the log.
   */
  boolean takesItselfForAVoter() {
    RaftServer.Division running = division.running();
    return running != null
        && running.getInfo().isFollower()
        && division.listeners().stream().anyMatch(division::isSelf);
  }

  /**
   * Whether the engine treats this node as one that follows without a vote, though it is in the log
   * group no longer, as before it gets a vote. It learns that only when it opens the log: until
   * then, the node votes for nobody.
   */
  boolean followsInVain() {
    RaftServer.Division running = division.running();
    return running != null
        && running.getInfo().isListener()
        && division.peers().noneMatch(division::isSelf);
  }

  @Override
  public CompletableFuture<Void> remove(String node, String except) {
    Predicate<RaftPeer> gone =
        peer -> nodeOf(peer.getId()).equals(node) && !peer.getId().toString().equals(except);
    return change(
        (voters, listeners) -> {
          voters.removeIf(gone);
          listeners.removeIf(gone);
        });
  }

  @Override
  public CompletableFuture<Void> add(String voter) {
    RaftPeer added = peers.apply(voter);
    Predicate<RaftPeer> same = peer -> peer.getId().equals(added.getId());
    // The engine cannot lead a log group in which one that follows is just getting its vote: a
    // leader that is elected then counts it twice. So it leaves first.
    CompletableFuture<Void> free =
        division.listeners().stream().anyMatch(same)
            ? change((voters, listeners) -> listeners.removeIf(same))
            : CompletableFuture.completedFuture(null);
    return free.thenCompose(
        left ->
            change(
                (voters, listeners) -> {
                  if (listeners.stream().anyMatch(same)) {
                    throw new ReconfigurationInProgressException("it follows again meanwhile");
                  }
                  voters.removeIf(same);
                  voters.add(added);
                }));
  }

  @Override
  public CompletableFuture<Void> addListener(String listener) {
    RaftPeer added = peers.apply(listener);
    return change(
        (voters, listeners) -> {
          if (voters.stream().noneMatch(peer -> peer.getId().equals(added.getId()))) {
            listeners.removeIf(peer -> peer.getId().equals(added.getId()));
            listeners.add(added);
          }
        });
  }

  private interface Change {
    void make(List<RaftPeer> voters, List<RaftPeer> listeners)
        throws ReconfigurationInProgressException;
  }

  /** Asks even if nothing changes: the leader knows whether the voters are committed. */
  private CompletableFuture<Void> change(Change change) {
    return division.configure(
        () -> {
          List<RaftPeer> voters = List.copyOf(division.voters());
          List<RaftPeer> listeners = List.copyOf(division.listeners());
          List<RaftPeer> newVoters = new ArrayList<>(voters);
          List<RaftPeer> newListeners = new ArrayList<>(listeners);
          change.make(newVoters, newListeners);
          if (sendsStill(newVoters) || sendsStill(newListeners)) {
            // The engine would fail half-way, and refuse all later changes.
            throw new ReconfigurationInProgressException("its last change is not quite over");
          }
          return SetConfigurationRequest.Arguments.newBuilder()
              .setServersInCurrentConf(voters)
              .setListenersInCurrentConf(listeners)
              .setServersInNewConf(newVoters)
              .setListenersInNewConf(newListeners)
              .setMode(SetConfigurationRequest.Mode.COMPARE_AND_SET)
              .build();
        });
  }

  /**
   * Whether this leader still sends to one of these, although it is not in the log group any more.
   */
  private boolean sendsStill(List<RaftPeer> peers) {
    RaftServer.Division running = division.running();
    if (running == null) {
      return false;
    }
    Set<RaftPeerId> gone = new HashSet<>();
    known(running.getInfo()).forEach(each -> gone.add(RaftPeerId.valueOf(each.getId().getId())));
    division.peers().forEach(peer -> gone.remove(peer.getId()));
    return peers.stream().anyMatch(peer -> gone.contains(peer.getId()));
  }
}
