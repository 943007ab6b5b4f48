package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.history.History;
import dev.evenkeel.history.HistoryClients;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Producers, and members that take each other's shards, while nodes are killed, stopped, which
 * gives their leadership to others, and held up, which leaves two who think that they lead. What
 * they are answered must be explained by {@link History}.
 */
class HistoryIT {
  private static final int ROUNDS = Integer.getInteger("evenkeel.rounds", 3);
  private static final long SEED = 1;

  @TempDir Path directory;

  @Test
  @Timeout(900)
  void whatClientsAreAnsweredWhileNodesComeAndGoIsLinearizable() throws Exception {
    long begun = System.nanoTime();
    History history = new History(() -> (System.nanoTime() - begun) / 1_000_000);
    try (Trio trio = new Trio(directory).start()) {
      trio.node(1).createTopic("ticks", 3);
      trio.node(1).createTopic("events", 3);
      try (AckWatch watch = new AckWatch(trio, "ticks")) {
        ClusterView view = watch.view();
        TopicInfo topic =
            Awaitility.await("the topic is known")
                .atMost(Duration.ofSeconds(60))
                .until(() -> watch.view().topic("events"), Objects::nonNull);
        List<Shard> shards = new ArrayList<>();
        for (int i = 0; i < topic.shards(); i++) {
          shards.add(new Shard(topic.id(), i));
        }
        int groups = view.dataLeaders().size();
        HistoryClients clients = watch.clients(history, view.nodes(), shards, groups, SEED);
        clients.start();
        for (int round = 0; round < ROUNDS; round++) {
          awaitMore(clients);
          Node node = trio.node(watch.view().leader(round % groups));
          String id = Trio.id(node);
          switch (round % 3) {
            case 0 -> {
              history.transfer(id + " is killed");
              node.kill();
              awaitMore(clients);
              node.start();
            }
            case 1 -> {
              history.transfer(id + " is held up");
              node.process().mayPause();
              Trio.signal(node, "STOP");
              awaitMore(clients);
              Trio.signal(node, "CONT");
              history.transfer(id + " goes on");
            }
            default -> {
              history.transfer(id + " stops and gives its leadership away");
              assertThat(node.stop().status()).isZero();
              awaitMore(clients);
              node.start();
            }
          }
          trio.awaitCaughtUp(node);
          history.transfer(id + " is back");
        }
        awaitMore(clients);
        await(clients.finish());
        System.err.println("HistoryIT: " + history.summary());
      }
    }
    history.check();
  }

  /** More batches are taken than now, of every shard most likely. */
  private static void awaitMore(HistoryClients clients) {
    long goal = clients.taken() + 150;
    Awaitility.await("clients go on")
        .atMost(Duration.ofSeconds(150))
        .pollInterval(Duration.ofMillis(20))
        .until(() -> clients.taken() >= goal);
  }
}
