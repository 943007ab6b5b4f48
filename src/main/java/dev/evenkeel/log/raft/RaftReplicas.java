package dev.evenkeel.log.raft;

import dev.evenkeel.log.Follower;
import dev.evenkeel.log.VoterId;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.ratis.proto.RaftProtos.ReplicationLevel;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;

/**
 * What a division knows of its voters' disks. A follower answers for entries once it has flushed
 * them, so what it is known to have is on its disk; of itself the leader counts what is flushed.
 */
final class RaftReplicas implements ReplicaWatch.Engine {
  private final RaftGroupLog log;
  private final RaftPeerId self;
  private final Supplier<RaftServer.Division> division;

  RaftReplicas(RaftGroupLog log, RaftPeerId self, Supplier<RaftServer.Division> division) {
    this.log = log;
    this.self = self;
    this.division = division;
  }

  @Override
  public CompletableFuture<?> watch(long index) {
    return log.request(RaftClientRequest.watchRequestType(index, ReplicationLevel.ALL));
  }

  @Override
  public Map<String, Long> marks() {
    RaftServer.Division running = division.get();
    if (running == null || !running.getInfo().isLeader()) {
      return null;
    }
    Map<String, Long> marks = new HashMap<>();
    Map<String, Long> known = new HashMap<>();
    for (Follower follower : log.followers()) {
      // Two voters of one node, while one takes the other's place: both must have it.
      known.merge(follower.node(), follower.matchIndex(), Math::min);
    }
    for (RaftPeer voter : running.getRaftConf().getCurrentPeers()) {
      String node = VoterId.node(voter.getId().toString());
      long mark =
          voter.getId().equals(self)
              ? running.getRaftLog().getFlushIndex()
              : known.getOrDefault(node, -1L);
      marks.merge(node, mark, Math::min);
    }
    return marks;
  }

  @Override
  public String leader() {
    String leader = log.leadership().leader();
    return leader == null ? "" : leader;
  }
}
