package dev.evenkeel.functional;

import dev.evenkeel.TestUsers;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/**
 * Whether the nodes of a cluster have come to the same state, as {@code GET /api/cluster} tells.
 */
public final class Replicas {
  private static final Duration ANSWER = Duration.ofSeconds(3);
  private static final Duration SAME_ENTRY = Duration.ofSeconds(30);

  private Replicas() {}

  /**
   * Where the states of two nodes differ; empty: nowhere, as far as they can be compared.
   *
   * @param cluster an answer of {@code GET /api/cluster}
   */
  public static String difference(JsonObject cluster) {
    for (JsonObject log : objects(cluster.getJsonArray("logs"))) {
      if (!log.getJsonArray("diverged").isEmpty()) {
        return log.getString("group") + ": " + log.getJsonArray("diverged");
      }
      List<JsonObject> digests = objects(log.getJsonArray("digests"));
      for (JsonObject one : digests) {
        for (JsonObject other : digests) {
          if (sameEntry(one, other)
              && one.getLong("since").equals(other.getLong("since"))
              && !one.getString("digest").equals(other.getString("digest"))) {
            return log.getString("group") + ": " + one + " and " + other;
          }
        }
      }
    }
    return "";
  }

  /** A log group whose nodes that answer are not equally far; empty: there is none. */
  public static String behind(JsonObject cluster) {
    List<String> alive =
        objects(cluster.getJsonArray("nodes")).stream()
            .filter(node -> Boolean.TRUE.equals(node.getBoolean("alive")))
            .map(node -> node.getString("node"))
            .toList();
    for (JsonObject log : objects(cluster.getJsonArray("logs"))) {
      // A node that had a copy once may still tell of it.
      List<JsonObject> digests =
          objects(log.getJsonArray("digests")).stream()
              .filter(each -> keeps(log, each.getString("node")))
              .toList();
      if (digests.size() < alive.stream().filter(node -> keeps(log, node)).count()
          || !digests.stream().allMatch(each -> sameEntry(each, digests.get(0)))) {
        return log.getString("group") + ": " + digests;
      }
    }
    return "";
  }

  /** Whether a node has a copy of a log group, as far as that is known. */
  private static boolean keeps(JsonObject log, String node) {
    JsonArray voters = log.getJsonArray("voters");
    return voters == null
        || voters.contains(node)
        || log.getJsonArray("listeners", new JsonArray()).contains(node);
  }

  private static boolean sameEntry(JsonObject one, JsonObject other) {
    Long index = one.getLong("appliedIndex");
    return index == null
        ? other.getLong("appliedIndex") == null
        : index.equals(other.getLong("appliedIndex"));
  }

  private static List<JsonObject> objects(JsonArray array) {
    return array.stream().map(JsonObject.class::cast).toList();
  }

  /**
   * The nodes that live, and answer each other, come to the same entry in each log group, and have
   * the same state then. Those that are held, cut off or starting do not count.
   */
  static void assertEqual(List<Node> nodes) {
    List<Node> alive =
        nodes.stream()
            .filter(node -> node.process() != null && node.process().process.isAlive())
            .toList();
    if (alive.size() < 2) {
      return;
    }
    HttpClient http = TestUsers.http();
    String obstacle = await(() -> ask(http, alive));
    if (!obstacle.isEmpty()) {
      throw new AssertionError(obstacle);
    }
  }

  /** What keeps all replicas from being equal in the end; empty: nothing does. */
  private static String await(Supplier<JsonObject> clusters) {
    long deadline = System.nanoTime() + (long) (SAME_ENTRY.toNanos() * Math.max(1, Jar.crowding()));
    while (true) {
      JsonObject cluster = clusters.get();
      if (cluster == null) {
        return "";
      }
      String difference = difference(cluster);
      if (!difference.isEmpty()) {
        return "replicas have come to different states: " + difference;
      }
      String behind = behind(cluster);
      if (behind.isEmpty()) {
        return "";
      }
      if (System.nanoTime() - deadline > 0) {
        return "replicas do not come to the same entry: " + behind;
      }
      try {
        Thread.sleep(50);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  /** The answer of the first node that has one; null: no node answers. */
  private static JsonObject ask(HttpClient http, List<Node> nodes) {
    for (Node node : nodes) {
      HttpRequest request =
          TestUsers.request(URI.create(node.url() + "/api/cluster")).timeout(ANSWER).build();
      try {
        HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() == 200) {
          return new JsonObject(answer.body());
        }
      } catch (IOException silent) {
        // It is held or cut off: the next one is asked.
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
    return null;
  }
}
