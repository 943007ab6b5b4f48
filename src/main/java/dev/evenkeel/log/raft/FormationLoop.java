package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.NodeInfo;
import dev.evenkeel.log.NodeInfo.Stage;
import dev.evenkeel.log.PeerLink;
import dev.evenkeel.protocol.RefusedException;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Forms the cluster: asks the other nodes, does what {@link Formation} decides, and repeats, until
 * the logs may be opened.
 */
final class FormationLoop {
  private static final long PAUSE_MILLIS = 250;
  private static final long JOIN_PAUSE_MILLIS = 1_000;
  private static final int INCARNATION_BYTES = 6;

  private final Path directory;
  private final PeerLink link;
  private final List<String> others;
  private NodeInfo self;
  private List<LogSettings.Peer> nodes = List.of();

  /**
   * @param written what the directory holds, or null if it is empty
   */
  FormationLoop(LogSettings settings, Path directory, ClusterFile written, PeerLink link) {
    this.directory = directory;
    this.link = link;
    List<String> peers = ClusterFile.ids(settings);
    others = peers.stream().filter(id -> !id.equals(settings.nodeId())).toList();
    self =
        written != null
            ? written.info()
            : new NodeInfo(
                settings.nodeId(),
                incarnation(),
                Stage.EMPTY,
                null,
                List.of(),
                peers,
                ClusterFile.dataGroups(settings));
  }

  private static String incarnation() {
    byte[] bytes = new byte[INCARNATION_BYTES];
    new SecureRandom().nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  /** Blocks until the logs may be opened. Returns what the disk then says. */
  ClusterFile run() throws LogStartException, IOException, InterruptedException {
    NodeInfo announced = self;
    while (true) {
      link.tell(announced);
      Formation.Step step = Formation.next(self, ask(), () -> UUID.randomUUID().toString());
      if (step instanceof Formation.Step.Open) {
        link.waitingFor(null, false);
        return new ClusterFile(self, nodes);
      } else if (step instanceof Formation.Step.Become become) {
        write(become.info());
        announced = self;
      } else if (step instanceof Formation.Step.Refuse refuse) {
        throw new LogStartException(refuse.message());
      } else if (step instanceof Formation.Step.Wait wait) {
        announced = self;
        link.tell(announced);
        link.waitingFor(wait.reason(), false);
        link.awaitInvitation(PAUSE_MILLIS);
      } else if (step instanceof Formation.Step.AwaitReplacement await) {
        announced = self.with(Stage.WAITING);
        link.tell(announced);
        link.waitingFor(await.reason(), true);
        if (takenIn(link.awaitInvitation(PAUSE_MILLIS))) {
          announced = self;
        }
      } else {
        throw new AssertionError(step);
      }
    }
  }

  /**
   * Asks a running cluster to take this node in, until it does. Blocks. Returns what the disk then
   * says.
   *
   * @throws LogStartException if the cluster refuses it for good
   */
  ClusterFile join(LogSettings.Peer own)
      throws LogStartException, IOException, InterruptedException {
    link.tell(self.with(Stage.WAITING));
    while (self.stage() == Stage.EMPTY) {
      try {
        link.askToJoin(self, own).get();
        link.waitingFor("the cluster is about to take this node in", false);
      } catch (ExecutionException e) {
        RefusedException refused = RefusedException.of(e.getCause());
        if (!refused.refusal().retriable()) {
          throw new LogStartException(
              "the cluster does not take node " + self.node() + " in: " + refused.getMessage(),
              refused);
        }
        link.waitingFor("asking the cluster to take this node in: " + refused.getMessage(), true);
      }
      takenIn(link.awaitInvitation(JOIN_PAUSE_MILLIS));
    }
    link.tell(self);
    link.waitingFor(null, false);
    return new ClusterFile(self, nodes);
  }

  /** Whether the invitation is for this node, which is then about to open its logs. */
  private boolean takenIn(PeerLink.Invitation invitation) throws IOException {
    if (invitation == null || !invitation.incarnation().equals(self.incarnation())) {
      return false;
    }
    nodes = invitation.nodes();
    write(
        new NodeInfo(
            self.node(),
            self.incarnation(),
            Stage.OPENING,
            invitation.clusterId(),
            List.of(),
            self.peers(),
            invitation.dataGroups()));
    return true;
  }

  private void write(NodeInfo info) throws IOException {
    new ClusterFile(info, nodes).write(directory);
    self = info;
  }

  private Map<String, NodeInfo> ask() throws InterruptedException {
    Map<String, CompletableFuture<NodeInfo>> asked = new TreeMap<>();
    others.forEach(node -> asked.put(node, link.ask(node)));
    Map<String, NodeInfo> answers = new TreeMap<>();
    for (Map.Entry<String, CompletableFuture<NodeInfo>> each : asked.entrySet()) {
      try {
        NodeInfo info = each.getValue().get();
        if (info.node().equals(each.getKey())) {
          answers.put(each.getKey(), info);
        }
      } catch (ExecutionException e) {
        // The decision treats a failure as no answer.
        continue;
      }
    }
    return answers;
  }
}
