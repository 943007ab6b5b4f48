package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.client.ConsumerOptions.DeliveryPolicy;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What a crash may do to a message, for each policy: the consumer is killed again and again while
 * it works. {@code -Pfull} kills it more often.
 */
class DeliveryIT extends OneNode {
  private static final boolean FULL = Integer.getInteger("evenkeel.rounds", 1) > 1;
  private static final int MESSAGES = FULL ? 8_000 : 2_000;
  private static final int KILLS = FULL ? 5 : 2;
  private static final int SHARDS = 3;

  /** Messages of a shard that are committed before they are handled, at most. */
  private static final int HAND_OUT = 32;

  /** The most handlers that one run of a member begins. */
  private static final int BEGUN_MAX = MESSAGES / (2 * KILLS);

  private static final int MICROS_MAX = 20_000;

  private final Random random = new Random();
  private String in;
  private String out;
  private String group;

  /** Each policy has topics and a group of its own. */
  private Path prepare(DeliveryPolicy policy) throws IOException {
    in = "in-" + policy.name();
    out = "out-" + policy.name();
    group = "g-" + policy.name();
    node.createTopic(in, SHARDS);
    node.createTopic(out, SHARDS);
    node.sendByKey(in, IntStream.range(0, MESSAGES).mapToObj(String::valueOf).toList());
    return Files.createFile(directory.resolve("handled-" + policy.name()));
  }

  @Test
  @Timeout(300)
  void atMostOnceNothingIsHandledTwice() throws IOException {
    Path handled = workAndKill(DeliveryPolicy.AT_MOST_ONCE);
    Map<String, Integer> times = times(handled);
    assertThat(times.values()).allMatch(count -> count == 1);
    assertThat(MESSAGES - times.size()).isBetween(0, (KILLS + 1) * SHARDS * HAND_OUT);
  }

  @Test
  @Timeout(300)
  void atLeastOnceNothingIsMissing() throws IOException {
    assertThat(times(workAndKill(DeliveryPolicy.AT_LEAST_ONCE))).hasSize(MESSAGES);
  }

  @Test
  @Timeout(400)
  void effectivelyOnceEveryInputCountsOnceUntilAReset() throws IOException {
    Path handled = workAndKill(DeliveryPolicy.EFFECTIVELY_ONCE);
    assertThat(times(handled)).hasSize(MESSAGES);
    assertThat(Files.readAllLines(handled).size()).as("some came again").isGreaterThan(MESSAGES);
    assertPublished(1);
    Wait.until(
        "the group has no members",
        () -> {
          List<JsonObject> shards = node.shards(group);
          return shards.size() == SHARDS
              && shards.stream().allMatch(shard -> shard.getString("owner") == null);
        });
    node.admin("group", "reset", group, "--to", "earliest");
    try (Jar.Running again = member(DeliveryPolicy.EFFECTIVELY_ONCE, handled, 0, 0)) {
      node.awaitConsumed(group, MESSAGES);
      again.kill();
    }
    assertPublished(2);
  }

  /**
   * A member dies at random moments, the first time surely within a handler; the last one comes to
   * the end.
   */
  private Path workAndKill(DeliveryPolicy policy) throws IOException {
    Path handled = prepare(policy);
    for (int i = 0; i < KILLS; i++) {
      int at = 1 + random.nextInt(BEGUN_MAX);
      int micros = i == 0 ? 0 : random.nextInt(MICROS_MAX);
      try (Jar.Running running = member(policy, handled, at, micros)) {
        assertThat(running.await().status())
            .as("died %d us after handler %d had begun", micros, at)
            .isEqualTo(DeliveryMember.KILLED);
      }
    }
    try (Jar.Running last = member(policy, handled, 0, 0)) {
      node.awaitConsumed(group, MESSAGES);
      last.kill();
    }
    return handled;
  }

  private Jar.Running member(DeliveryPolicy policy, Path handled, int diesAt, int diesMicros) {
    return Program.start(
        directory,
        "member-" + System.nanoTime(),
        Program.clientClassPath(),
        DeliveryMember.class.getName(),
        node.cluster(),
        in,
        group,
        "m",
        policy.name(),
        out,
        handled.toString(),
        String.valueOf(diesAt),
        String.valueOf(diesMicros));
  }

  private static Map<String, Integer> times(Path handled) throws IOException {
    Map<String, Integer> times = new HashMap<>();
    Files.readAllLines(handled).forEach(line -> times.merge(line, 1, Integer::sum));
    return times;
  }

  /** Each input's output is there so often, in the order of inputs, with the right sum. */
  private void assertPublished(int rounds) {
    Map<Integer, long[]> sums = new TreeMap<>();
    for (int shard = 0; shard < SHARDS; shard++) {
      List<String> inputs = payloads(in, shard);
      List<String> expected = new ArrayList<>();
      for (int round = 0; round < rounds; round++) {
        long sum = 0;
        for (int offset = 0; offset < inputs.size(); offset++) {
          sum += Long.parseLong(inputs.get(offset));
          expected.add(offset + " " + inputs.get(offset) + " " + sum);
        }
        sums.put(shard, new long[] {sum});
      }
      assertThat(payloads(out, shard)).as("shard " + shard).isEqualTo(expected);
    }
    long all = sums.values().stream().flatMapToLong(Arrays::stream).sum();
    assertThat(all).isEqualTo((long) MESSAGES * (MESSAGES - 1) / 2);
  }

  private List<String> payloads(String topic, int shard) {
    List<String> payloads = new ArrayList<>();
    while (true) {
      String place = "shard=" + shard + "&offset=" + payloads.size() + "&limit=1000";
      JsonArray page = new JsonArray(node.read("/api/topics/" + topic + "/messages?" + place));
      if (page.isEmpty()) {
        return payloads;
      }
      page.forEach(message -> payloads.add(((JsonObject) message).getString("payload")));
    }
  }
}
