package dev.evenkeel.log.raft;

import static dev.evenkeel.Loops.each;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Wait;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One to three nodes of three are killed again and again, while whoever leads takes entries. */
class KilledClusterTest {
  private static final int ROUNDS = Math.max(6, 4 * Integer.getInteger("evenkeel.rounds", 1));
  private static final int ENOUGH = 60;

  @TempDir Path temp;
  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private final Map<String, Integer> ports = new TreeMap<>();
  private final Map<String, ForkedNode> running = new HashMap<>();
  private final List<TestNode> started = new ArrayList<>();
  private final Set<String> acknowledged = new HashSet<>();
  private int lives;

  @AfterEach
  void stop() throws InterruptedException {
    each(running.values(), node -> node.close());
    started.forEach(TestNode::close);
  }

  @Tag("full")
  @Test
  void everyNodeHasEverythingAcknowledgedInTheEnd() throws Exception {
    List.of("a", "b", "c").forEach(id -> ports.put(id, TestNode.freePort()));
    each(ports.keySet(), id -> fork(id));
    for (int round = 0; round < ROUNDS; round++) {
      int before = acknowledgedNow();
      await()
          .atMost(TestNode.PATIENCE.multipliedBy(2))
          .until(() -> acknowledgedNow() > before + ENOUGH);
      List<String> ids = new ArrayList<>(ports.keySet());
      java.util.Collections.shuffle(ids, random);
      List<String> victims = ids.subList(0, 1 + random.nextInt(3));
      each(victims, id -> kill(id));
      each(victims, id -> fork(id));
    }
    each(ports.keySet(), id -> kill(id));
    assertAllHaveTheSame();
  }

  private void fork(String id) throws IOException {
    String peers =
        ports.entrySet().stream()
            .map(each -> each.getKey() + "=" + each.getValue())
            .collect(Collectors.joining(","));
    running.put(
        id, new ForkedNode(List.of(), temp.resolve(id).toString(), peers, id + lives++, id));
  }

  private void kill(String id) throws InterruptedException {
    ForkedNode node = running.remove(id);
    node.kill();
    acknowledged.addAll(node.acknowledged());
  }

  private int acknowledgedNow() {
    return acknowledged.size()
        + running.values().stream().mapToInt(node -> node.acknowledged().size()).sum();
  }

  private void assertAllHaveTheSame() throws LogStartException {
    String list =
        ports.entrySet().stream()
            .map(each -> each.getKey() + "=" + each.getValue())
            .collect(Collectors.joining(","));
    List<LogSettings.Peer> peers = LoadMain.peers(list);
    for (String id : ports.keySet()) {
      Path home = temp.resolve(id);
      started.add(
          new TestNode(TestNode.settings(id, home, peers, 1, 1_000_000), TestNode.live(home)));
    }
    new Appends(
            () ->
                await()
                    .atMost(TestNode.PATIENCE)
                    .until(
                        () ->
                            started.stream()
                                .map(TestNode::d0)
                                .filter(group -> group.leadership().ready())
                                .findFirst()
                                .orElse(null),
                        group -> group != null))
        .append("the last");
    Wait.untilAsserted(
        () -> {
          List<String> entries = started.get(0).state("d0").entries();
          assertThat(entries).anyMatch(entry -> entry.startsWith("the last"));
          started.forEach(node -> assertThat(node.state("d0").entries()).isEqualTo(entries));
        });
    Set<String> names = new HashSet<>();
    for (String entry : started.get(0).state("d0").entries()) {
      String[] parts = entry.split("-");
      names.add(parts.length < 2 ? entry : parts[0] + "-" + parts[1]);
    }
    assertThat(names).as("with seed %s", seed).containsAll(acknowledged);
  }
}
