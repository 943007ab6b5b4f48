package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.NodeInfo;
import dev.evenkeel.log.PeerLink;
import dev.evenkeel.log.SnapshotManifest;
import dev.evenkeel.log.SnapshotSource;
import dev.evenkeel.protocol.Refusal;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The lines between the nodes of one test. */
final class TestLines {
  private static final Map<Object, TestLines> CLUSTERS = new ConcurrentHashMap<>();

  private final Map<String, Line> lines = new ConcurrentHashMap<>();
  private final boolean connected;

  /** Nobody is to be asked. */
  TestLines() {
    this(false);
  }

  TestLines(boolean connected) {
    this.connected = connected;
  }

  /** The lines of the cluster with these peers, whose ports no other test has. */
  static TestLines of(List<LogSettings.Peer> peers) {
    return CLUSTERS.computeIfAbsent(peers, any -> new TestLines());
  }

  /** Every request for snapshots goes through this. */
  volatile SnapshotFilter snapshotFilter = (node, source) -> source;

  /** Puts something between a node's snapshots and whoever copies them. */
  interface SnapshotFilter {
    SnapshotSource between(String node, SnapshotSource source);
  }

  /** A new line for a run of this node. */
  Line line(String node) {
    Line link = new Line();
    lines.put(node, link);
    return link;
  }

  /** The node does not answer any more. */
  void cut(String node) {
    Line link = lines.remove(node);
    if (link != null) {
      link.closed = true;
    }
  }

  Line of(String node) {
    return lines.get(node);
  }

  final class Line implements PeerLink {
    final LinkedBlockingQueue<Invitation> invitations = new LinkedBlockingQueue<>();
    volatile NodeInfo info;
    volatile SnapshotSource snapshots;
    volatile String waitsFor;
    private volatile boolean closed;

    boolean asksOthers() {
      return connected;
    }

    @Override
    public void tell(NodeInfo newInfo) {
      info = newInfo;
    }

    @Override
    public CompletableFuture<NodeInfo> ask(String node) {
      Line link = lines.get(node);
      NodeInfo answer = link == null ? null : link.info;
      return answer == null
          ? CompletableFuture.failedFuture(new IllegalStateException("no answer"))
          : CompletableFuture.completedFuture(answer);
    }

    @Override
    public void serve(SnapshotSource own) {
      snapshots = own;
    }

    /** Looks for the node at each request: it may be away, or have started again. */
    @Override
    public SnapshotSource snapshotsOf(String node) {
      return new SnapshotSource() {
        @Override
        public CompletableFuture<SnapshotManifest> newest(String group) {
          return now().newest(group);
        }

        @Override
        public CompletableFuture<ByteBuffer> read(Chunk chunk) {
          return now().read(chunk);
        }

        private SnapshotSource now() {
          Line link = lines.get(node);
          if (link == null || link.snapshots == null) {
            throw Refusal.UNAVAILABLE.error("no answer");
          }
          return snapshotFilter.between(node, link.snapshots);
        }
      };
    }

    @Override
    public void waitingFor(String reason, boolean hint) {
      waitsFor = reason;
    }

    @Override
    public CompletableFuture<Void> askToJoin(NodeInfo asking, LogSettings.Peer own) {
      return CompletableFuture.failedFuture(Refusal.UNAVAILABLE.error("nobody to ask"));
    }

    @Override
    public Invitation awaitInvitation(long millisMax)
        throws LogStartException, InterruptedException {
      if (closed) {
        throw new LogStartException("the node was stopped before it could serve");
      }
      return invitations.poll(millisMax, TimeUnit.MILLISECONDS);
    }
  }
}
