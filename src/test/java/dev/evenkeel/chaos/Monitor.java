package dev.evenkeel.chaos;

import dev.evenkeel.TestUsers;
import dev.evenkeel.Unchecked;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Asks the nodes about leases, as users do, and writes down what they tell. */
final class Monitor {
  private static final Duration ANSWER_MAX = Duration.ofSeconds(4);

  private final List<String> urls;
  private final Path events;
  private final HttpClient http = TestUsers.http();
  private int turn;

  Monitor(List<String> urls, Path events) {
    this.urls = urls;
    this.events = events;
  }

  /** Asks one node after the other, each time another, about all groups. */
  void look() {
    String url = urls.get(turn++ % urls.size());
    List<String> lines = new ArrayList<>();
    for (String group : ChaosClient.GROUPS) {
      try {
        JsonObject described = group(url, group);
        if (described != null) {
          leases(group, described).forEach(lease -> lines.add(lease.line()));
        }
      } catch (IOException e) {
        // It is down or cut off: the next one is asked.
        break;
      }
    }
    Unchecked.run(
        () -> Files.write(events, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND));
  }

  /** A group as a node tells; null if it cannot. */
  JsonObject group(String url, String group) throws IOException {
    HttpResponse<String> answer = get(url + "/api/groups/" + group);
    return answer.statusCode() == 200 ? new JsonObject(answer.body()) : null;
  }

  HttpResponse<String> get(String url) throws IOException {
    try {
      return http.send(
          TestUsers.request(URI.create(url)).timeout(ANSWER_MAX).build(),
          HttpResponse.BodyHandlers.ofString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  static List<Event.Lease> leases(String group, JsonObject described) {
    long now = System.nanoTime();
    List<Event.Lease> leases = new ArrayList<>();
    for (Object each : described.getJsonArray("shards")) {
      JsonObject shard = (JsonObject) each;
      if (shard.getLong("epoch") != null) {
        leases.add(
            new Event.Lease(
                now,
                group,
                shard.getInteger("shard"),
                shard.getLong("epoch"),
                shard.getString("owner", "-") == null ? "-" : shard.getString("owner", "-"),
                shard.getLong("committed") == null ? -1 : shard.getLong("committed")));
      }
    }
    return leases;
  }
}
