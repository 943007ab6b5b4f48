package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;

/** Judges what consumers printed with {@code --format json}: see each method. */
public final class DeliveryCheck {
  private record Place(int shard, long offset) {}

  private record Seen(String payload, long epoch) {}

  private final Map<Place, Seen> first = new HashMap<>();
  private final Map<Integer, TreeMap<Long, String>> shards = new HashMap<>();
  private long redelivered;

  /** Reads outputs; a message may be there twice only under a later epoch. */
  public DeliveryCheck(Collection<List<String>> outputs) {
    outputs.forEach(output -> output.forEach(line -> read(new JsonObject(line))));
  }

  /** Of what these consumers printed. */
  static DeliveryCheck of(List<Jar.Running> consumers) {
    return new DeliveryCheck(Lines.read(consumers.stream().map(each -> each.out).toList()));
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

  private void read(JsonObject delivery) {
    Place place = new Place(delivery.getInteger("shard"), delivery.getLong("offset"));
    Seen now = new Seen(delivery.getString("payload"), delivery.getLong("epoch"));
    Seen before = first.putIfAbsent(place, now);
    if (before == null) {
      shards
          .computeIfAbsent(place.shard(), s -> new TreeMap<>())
          .put(place.offset(), now.payload());
      return;
    }
    redelivered++;
    assertThat(now.payload()).as("payload at %s", place).isEqualTo(before.payload());
    assertThat(now.epoch())
        .as("delivered twice under one epoch: %s", place)
        .isNotEqualTo(before.epoch());
  }

  public long distinct() {
    return first.size();
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
    shards.values().forEach(shard -> shard.values().forEach(payload -> follow(payload, next)));
    assertThat(distinct()).isEqualTo(messages);
  }

  private static void follow(String payload, Map<String, Long> next) {
    String[] words = payload.split(" ");
    long expected = next.merge(words[0], 1L, Long::sum) - 1;
    assertThat(Long.parseLong(words[1])).as("next of %s", words[0]).isEqualTo(expected);
  }

  /** Every key's N runs 0, 1, 2, ... without a gap or a repeat, in the order of the shard. */
  public void assertEachKeyCompleteAndInOrder(long messages) {
    Map<String, Long> next = new HashMap<>();
    for (TreeMap<Long, String> shard : shards.values()) {
      long offset = 0;
      for (Map.Entry<Long, String> entry : shard.entrySet()) {
        assertThat(entry.getKey()).as("offset without a message").isEqualTo(offset++);
        follow(entry.getValue(), next);
      }
    }
    assertThat(distinct()).isEqualTo(messages);
  }
}
