package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** Judges what consumers printed with {@code --format json}: see each method. */
public final class DeliveryCheck {
  private record Seen(String payload, long epoch) {}

  private final Map<Integer, TreeMap<Long, Seen>> shards = new HashMap<>();
  private long redelivered;

  /** Reads outputs; a message may be there twice only under a later epoch. */
  public DeliveryCheck(Collection<List<String>> outputs) {
    outputs.forEach(output -> output.forEach(this::read));
  }

  /** Of what these consumers printed, which may be more than fits in memory as lines. */
  static DeliveryCheck of(List<Jar.Running> consumers) {
    DeliveryCheck check = new DeliveryCheck(List.of());
    for (Jar.Running consumer : consumers) {
      try (Stream<String> lines = Files.lines(consumer.out)) {
        lines.forEach(check::read);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return check;
  }

  /** Waits until each of the consumers has printed more than now. */
  static void awaitProgress(List<Jar.Running> consumers) {
    List<Long> before = consumers.stream().map(each -> each.out.toFile().length()).toList();
    Awaitility.await("every consumer goes on")
        .atMost(Duration.ofSeconds(150))
        .pollInterval(Duration.ofMillis(20))
        .until(
            () ->
                IntStream.range(0, before.size())
                    .allMatch(i -> consumers.get(i).out.toFile().length() > before.get(i)));
  }

  private void read(String line) {
    JsonObject delivery = new JsonObject(line);
    Seen now = new Seen(delivery.getString("payload"), delivery.getLong("epoch"));
    Seen before =
        shards
            .computeIfAbsent(delivery.getInteger("shard"), shard -> new TreeMap<>())
            .putIfAbsent(delivery.getLong("offset"), now);
    if (before == null) {
      return;
    }
    redelivered++;
    assertThat(now.payload()).as("payload of a repeat: %s", line).isEqualTo(before.payload());
    assertThat(now.epoch())
        .as("delivered twice under one epoch: %s", line)
        .isNotEqualTo(before.epoch());
  }

  public long distinct() {
    return shards.values().stream().mapToLong(TreeMap::size).sum();
  }

  /** Deliveries beyond the first of a message. */
  public long redelivered() {
    return redelivered;
  }

  /**
   * As {@link #assertEachKeyCompleteAndInOrder}, where messages that are none of the keys' have
   * been taken out and have left offsets without a message.
   */
  public void assertKeysComplete(long messages) {
    Map<String, Long> next = new HashMap<>();
    shards.values().forEach(shard -> shard.values().forEach(seen -> follow(seen, next)));
    assertThat(distinct()).isEqualTo(messages);
  }

  private static void follow(Seen seen, Map<String, Long> next) {
    String[] words = seen.payload().split(" ");
    long expected = next.merge(words[0], 1L, Long::sum) - 1;
    assertThat(Long.parseLong(words[1])).as("next of %s", words[0]).isEqualTo(expected);
  }

  /** Every key's N runs 0, 1, 2, ... without a gap or a repeat, in the order of the shard. */
  public void assertEachKeyCompleteAndInOrder(long messages) {
    Map<String, Long> next = new HashMap<>();
    for (TreeMap<Long, Seen> shard : shards.values()) {
      long offset = 0;
      for (Map.Entry<Long, Seen> entry : shard.entrySet()) {
        assertThat(entry.getKey()).as("offset without a message").isEqualTo(offset++);
        follow(entry.getValue(), next);
      }
    }
    assertThat(distinct()).isEqualTo(messages);
  }
}
