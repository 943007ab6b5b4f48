package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.NodeInfo;
import dev.evenkeel.log.PeerLink;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The lines between the nodes of one test. */
final class TestLines {
  private final Map<String, Line> lines = new ConcurrentHashMap<>();
  private final boolean connected;

  /** Nobody is to be asked. */
  TestLines() {
    this(false);
  }

  TestLines(boolean connected) {
    this.connected = connected;
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
    public void waitingFor(String reason, boolean hint) {
      waitsFor = reason;
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
