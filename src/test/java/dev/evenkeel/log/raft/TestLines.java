package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.NodeCard;
import dev.evenkeel.log.PeerLine;
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
    Line line = new Line();
    lines.put(node, line);
    return line;
  }

  /** The node does not answer any more. */
  void cut(String node) {
    Line line = lines.remove(node);
    if (line != null) {
      line.closed = true;
    }
  }

  Line of(String node) {
    return lines.get(node);
  }

  final class Line implements PeerLine {
    final LinkedBlockingQueue<Invitation> invitations = new LinkedBlockingQueue<>();
    volatile NodeCard card;
    volatile String waitsFor;
    private volatile boolean closed;

    boolean asksOthers() {
      return connected;
    }

    @Override
    public void tell(NodeCard newCard) {
      card = newCard;
    }

    @Override
    public CompletableFuture<NodeCard> ask(String node) {
      Line line = lines.get(node);
      NodeCard answer = line == null ? null : line.card;
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
