package dev.evenkeel.functional;

import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.awaitility.Awaitility;

/** Who owns which shards of a group, as a node's HTTP API tells. */
public final class Members {
  private final Node node;
  private final String group;

  public Members(Node node, String group) {
    this.node = node;
    this.group = group;
  }

  /** The owner of each shard that has one and is not being handed over. */
  public Map<Integer, String> owners() {
    Map<Integer, String> owners = new TreeMap<>();
    for (JsonObject shard : node.shards(group)) {
      if ("OWNED".equals(shard.getString("state"))) {
        owners.put(shard.getInteger("shard"), shard.getString("owner"));
      }
    }
    return owners;
  }

  /** Waits until each of these members owns so many shards, and nobody else owns any. */
  public Map<Integer, String> awaitCounts(Map<String, Integer> counts) {
    return await(counts.toString(), owners -> counts(owners).equals(counts));
  }

  public Map<Integer, String> await(String what, Predicate<Map<Integer, String>> wanted) {
    return Awaitility.await(what)
        .atMost(Duration.ofSeconds(90))
        .pollInterval(Duration.ofMillis(50))
        .until(this::owners, wanted);
  }

  public static Map<String, Integer> counts(Map<Integer, String> owners) {
    Map<String, Integer> counts = new HashMap<>();
    owners.values().forEach(owner -> counts.merge(owner, 1, Integer::sum));
    return counts;
  }

  /** Shards whose owners differ. */
  public static int moves(Map<Integer, String> before, Map<Integer, String> after) {
    return (int)
        before.keySet().stream()
            .filter(shard -> !before.get(shard).equals(after.get(shard)))
            .count();
  }
}
