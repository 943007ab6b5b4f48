package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.NodeCard;
import dev.evenkeel.log.NodeCard.Stage;
import dev.evenkeel.log.PeerLine;
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

/** Asks, decides by {@link Formation}, writes down and tells, until the logs may be opened. */
final class FormationLoop {
  private static final long PAUSE_MILLIS = 250;
  private static final int INCARNATION_BYTES = 6;

  private final Path directory;
  private final PeerLine line;
  private final List<String> others;
  private NodeCard self;

  /**
   * @param written what the directory holds, or null if it is empty
   */
  FormationLoop(LogSettings settings, Path directory, ClusterFile written, PeerLine line) {
    this.directory = directory;
    this.line = line;
    List<String> peers = ClusterFile.ids(settings);
    others = peers.stream().filter(id -> !id.equals(settings.nodeId())).toList();
    self =
        written != null
            ? written.card()
            : new NodeCard(
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

  /** Blocks until the logs may be opened, as what is then on the disk says. */
  ClusterFile run() throws LogStartException, IOException, InterruptedException {
    NodeCard told = self;
    while (true) {
      line.tell(told);
      Formation.Step step = Formation.next(self, ask(), () -> UUID.randomUUID().toString());
      if (step instanceof Formation.Step.Open) {
        line.waitingFor(null, false);
        return new ClusterFile(self);
      } else if (step instanceof Formation.Step.Become become) {
        write(become.card());
        told = self;
      } else if (step instanceof Formation.Step.Refuse refuse) {
        throw new LogStartException(refuse.message());
      } else if (step instanceof Formation.Step.Wait wait) {
        told = self;
        line.tell(told);
        line.waitingFor(wait.reason(), false);
        line.awaitInvitation(PAUSE_MILLIS);
      } else if (step instanceof Formation.Step.AwaitReplacement await) {
        told = self.with(Stage.WAITING);
        line.tell(told);
        line.waitingFor(await.reason(), true);
        PeerLine.Invitation invitation = line.awaitInvitation(PAUSE_MILLIS);
        if (invitation != null && invitation.incarnation().equals(self.incarnation())) {
          takenIn(invitation);
          told = self;
        }
      } else {
        throw new AssertionError(step);
      }
    }
  }

  private void takenIn(PeerLine.Invitation invitation) throws IOException {
    write(
        new NodeCard(
            self.node(),
            self.incarnation(),
            Stage.OPENING,
            invitation.clusterId(),
            List.of(),
            self.peers(),
            invitation.dataGroups()));
  }

  private void write(NodeCard card) throws IOException {
    new ClusterFile(card).write(directory);
    self = card;
  }

  private Map<String, NodeCard> ask() throws InterruptedException {
    Map<String, CompletableFuture<NodeCard>> asked = new TreeMap<>();
    others.forEach(node -> asked.put(node, line.ask(node)));
    Map<String, NodeCard> answers = new TreeMap<>();
    for (Map.Entry<String, CompletableFuture<NodeCard>> each : asked.entrySet()) {
      try {
        NodeCard card = each.getValue().get();
        if (card.node().equals(each.getKey())) {
          answers.put(each.getKey(), card);
        }
      } catch (ExecutionException e) {
        // No answer is what the decision takes it for.
        continue;
      }
    }
    return answers;
  }
}
