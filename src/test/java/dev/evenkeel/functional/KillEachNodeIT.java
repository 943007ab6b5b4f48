package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.ClusterView;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each node is killed in turn under load, and comes back. Prints how long the shards led by the
 * killed node were without service, and those led elsewhere. Short here; {@code -Pfull} makes it
 * ten rounds.
 */
@Tag("full")
class KillEachNodeIT {
  private static final int ROUNDS = Integer.getInteger("evenkeel.rounds", 3);

  @TempDir Path directory;

  @Test
  @Timeout(1800)
  void serviceGoesOnByItselfAndNothingAcknowledgedIsLost() {
    try (Trio trio = new Trio(directory).start()) {
      Node first = trio.nodes.get(0);
      first.createTopic("events", 6);
      first.createTopic("ticks", 6);
      List<Jar.Running> consumers = new ArrayList<>();
      List.of("a", "b", "c").forEach(name -> consumers.add(trio.consume(name, "events", "g")));
      Jar.Running producer = trio.produce("producer", "events", 2_000);
      List<Long> pauses = new ArrayList<>();
      List<Long> elsewhere = new ArrayList<>();
      long lines;
      try (Feeder feeder = new Feeder(producer.process.getOutputStream(), 200);
          AckWatch watch = new AckWatch(trio, "ticks")) {
        for (int round = 0; round < ROUNDS; round++) {
          for (Node node : trio.nodes) {
            DeliveryCheck.awaitProgress(consumers);
            ClusterView before = watch.view();
            long killed = System.nanoTime();
            node.kill();
            watch.awaitAllServedAfter(killed);
            note(node, before, watch.longestGapMillis(killed), pauses, elsewhere);
            DeliveryCheck.awaitProgress(consumers);
            node.start();
            trio.awaitCaughtUp(node);
          }
        }
        lines = feeder.finish();
        watch.finish();
        assertThat(watch.failures()).isZero();
      }
      producer.awaitAcked(lines);
      first.awaitConsumed("g", lines);
      consumers.forEach(Jar.Running::stopWell);
      DeliveryCheck check = DeliveryCheck.of(consumers);
      check.assertEachKeyCompleteAndInOrder(lines);
      Collections.sort(pauses);
      Collections.sort(elsewhere);
      System.err.println(
          "KillEachNodeIT: "
              + lines
              + " messages, "
              + check.redelivered()
              + " delivered again; longest time without an acknowledgement, ms: log groups that"
              + " the killed node led "
              + pauses
              + ", others "
              + elsewhere);
    }
  }

  private static void note(
      Node node,
      ClusterView before,
      Map<Integer, Long> gaps,
      List<Long> pauses,
      List<Long> elsewhere) {
    String id = Trio.id(node);
    Map<String, Long> led = new TreeMap<>();
    Map<String, Long> others = new TreeMap<>();
    gaps.forEach(
        (group, gap) -> (id.equals(before.leader(group)) ? led : others).put("d" + group, gap));
    pauses.addAll(led.values());
    elsewhere.addAll(others.values());
    System.err.println(
        "KillEachNodeIT: killed "
            + id
            + (id.equals(before.metaLeader()) ? " (dispatcher)" : "")
            + ", ms without service: led there "
            + led
            + ", led elsewhere "
            + others);
  }
}
