package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.protocol.Refusal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The node that dispatches is held up for longer than any timeout, and goes on. Others lead
 * meanwhile; it comes back by itself as a node like any other. 12 s here, 20 s with {@code -Pfull}.
 */
@Tag("full")
class PausedLeaderIT {
  private static final int PAUSE_SECONDS = Integer.getInteger("evenkeel.pauseSeconds", 12);

  @TempDir Path directory;

  @Test
  @Timeout(900)
  void aLeaderThatWasHeldUpFollowsAndServesAgain() throws Exception {
    try (Trio trio = new Trio(directory).start()) {
      Node first = trio.nodes.get(0);
      first.createTopic("events", 6);
      first.createTopic("ticks", 6);
      List<Jar.Running> consumers = new ArrayList<>();
      List.of("a", "b", "gone").forEach(name -> consumers.add(trio.consume(name, "events", "g")));
      Jar.Running gone = consumers.get(2);
      Jar.Running producer = trio.produce("producer", "events", 1_000);
      long lines;
      Node paused;
      try (Feeder feeder = new Feeder(producer.process.getOutputStream(), 200);
          AckWatch watch = new AckWatch(trio, "ticks")) {
        await(
            "all consume", () -> consumers.stream().allMatch(c -> c.out.toFile().length() > 5_000));
        ClusterView before = watch.view();
        paused = trio.node(before.metaLeader());
        paused.process().mayPause();
        AckWatch.Owned owned = watch.ownedBy("events", "g", "gone");
        long stopped = System.nanoTime();
        Trio.signal(paused, "STOP");
        gone.kill();
        watch.awaitAllServedAfter(stopped);
        System.err.println(
            "PausedLeaderIT: ms without an acknowledgement, by data group "
                + watch.longestGapMillis(stopped)
                + ", of which the held-up node led "
                + led(before));
        await("the shards of the killed consumer move", () -> ownedByOthers(trio, paused));
        // The pause is what is tested: longer than election, member and heartbeat timeouts.
        long left = stopped + TimeUnit.SECONDS.toNanos(PAUSE_SECONDS) - System.nanoTime();
        TimeUnit.NANOSECONDS.sleep(Math.max(0, left));
        Trio.signal(paused, "CONT");
        // The former owner's commit, put to the former leader and then to whoever leads.
        assertThat(watch.commitAt(Trio.id(paused), owned)).isNotNull();
        Wait.until(
            "a fenced owner hears that it is fenced",
            () -> watch.commitAt(watch.leaderOf(owned), owned) == Refusal.FENCED);
        trio.awaitCaughtUp(paused);
        // It takes part again: its own HTTP finds the others, and without it there is no majority.
        await("it is ready", () -> paused.get("/health/ready").statusCode() == 200);
        Node other = trio.others(paused).get(0);
        long killed = System.nanoTime();
        other.kill();
        watch.awaitAllServedAfter(killed);
        await("it answers for the group", () -> paused.shards("g").size() == 6);
        lines = feeder.finish();
        watch.finish();
        assertThat(watch.failures()).isZero();
      }
      producer.awaitAcked(lines);
      paused.awaitConsumed("g", lines);
      consumers.subList(0, 2).forEach(Jar.Running::stopWell);
      Collection<List<String>> outputs =
          Lines.read(consumers.stream().map(consumer -> consumer.out).toList()).stream()
              // The killed one may have left half a line.
              .map(output -> output.stream().filter(line -> line.endsWith("}")).toList())
              .toList();
      DeliveryCheck check = new DeliveryCheck(outputs);
      check.assertEachKeyCompleteAndInOrder(lines);
      System.err.println(
          "PausedLeaderIT: " + lines + " messages, " + check.redelivered() + " delivered again");
    }
  }

  private static List<Integer> led(ClusterView view) {
    List<Integer> groups = new ArrayList<>();
    for (int group = 0; group < view.dataLeaders().size(); group++) {
      if (Objects.equals(view.leader(group), view.metaLeader())) {
        groups.add(group);
      }
    }
    return groups;
  }

  private static boolean ownedByOthers(Trio trio, Node paused) {
    var shards = trio.others(paused).get(0).shards("g");
    return shards.size() == 6
        && shards.stream()
            .allMatch(
                shard -> List.of("a", "b").contains(String.valueOf(shard.getString("owner"))));
  }

  private static void await(String what, java.util.concurrent.Callable<Boolean> condition) {
    Awaitility.await(what)
        .ignoreExceptions()
        .atMost(Duration.ofSeconds(150))
        .pollInterval(Duration.ofMillis(50))
        .until(condition);
  }
}
