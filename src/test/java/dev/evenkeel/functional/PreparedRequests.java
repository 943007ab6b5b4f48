package dev.evenkeel.functional;

import dev.evenkeel.Unchecked;
import dev.evenkeel.Wait;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.EventBusPage.Row;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * What the requests of one section of the page need: the state in which they succeed, and real ids
 * in the place of those of the page. Topic orders is there, with 30 messages in shard 2.
 */
interface PreparedRequests {
  /**
   * Prepares one request, in the order of the page, and gives it as it is to be sent. Fails with
   * {@link #unknown} for one that it does not know.
   */
  Object request(Row row);

  /** A request had the answer that the page shows. */
  default void answered(Row row, Object answer) {}

  /** For a request that is new on the page. */
  static AssertionError unknown(Row row) {
    return new AssertionError(
        "nobody knows what '%s' needs: say it in the PreparedRequests of its section"
            .formatted(row.name()));
  }

  /** Requests with these actions need nothing but those before them. */
  static Function<PageCluster, PreparedRequests> asShown(String... actions) {
    return cluster ->
        row -> {
          if (!List.of(actions).contains(row.action())) {
            throw unknown(row);
          }
          return row.request();
        };
  }

  /** Each needs a delayed message. */
  final class Delayed implements PreparedRequests {
    private final String id;

    Delayed(PageCluster cluster) {
      JsonObject sent =
          (JsonObject)
              cluster.ask(
                  ApiAddresses.PRODUCE,
                  "{'topic':'orders','key':'k8','payload':'later','deliverAfterMs':86400000}");
      id = sent.getString("delayedId");
    }

    @Override
    public Object request(Row row) {
      return switch (row.action()) {
        case "list" -> row.request();
        case "get", "cancel" -> row.object().put("id", id);
        default -> throw unknown(row);
      };
    }
  }

  /** The token that one of them makes. */
  final class Users implements PreparedRequests {
    private String id;

    @Override
    public Object request(Row row) {
      return switch (row.action()) {
        case "put", "add-token", "list", "remove" -> row.request();
        case "remove-token" -> row.object().put("id", id);
        default -> throw unknown(row);
      };
    }

    @Override
    public void answered(Row row, Object answer) {
      if (row.action().equals("add-token")) {
        id = ((JsonObject) answer).getString("id");
      }
    }
  }

  /** The session that the first of them opens, and the messages that it gets. */
  final class Sessions implements PreparedRequests {
    private final PageCluster cluster;
    private final JsonArray messages = new JsonArray();
    private JsonObject poll;
    private String session;

    Sessions(PageCluster cluster) {
      this.cluster = cluster;
    }

    @Override
    public Object request(Row row) {
      return switch (row.action()) {
        case "open" -> row.request();
        case "messages" -> poll = row.object().put("session", session);
        case "extend", "abandon", "close" -> row.object().put("session", session);
        case "results" -> results(row.object().put("session", session));
        default -> throw unknown(row);
      };
    }

    private JsonObject results(JsonObject request) {
      Wait.until(
          "there are messages for all results",
          () -> {
            if (messages.size() < 2) {
              got(cluster.askObject(ApiAddresses.SESSIONS, poll));
            }
            return messages.size() >= 2;
          });
      int next = 0;
      for (String list : List.of("done", "failed")) {
        for (Object each : request.getJsonArray(list)) {
          JsonObject message = messages.getJsonObject(next++);
          for (String field : List.of("topic", "shard", "offset", "epoch")) {
            ((JsonObject) each).put(field, message.getValue(field));
          }
        }
      }
      return request;
    }

    @Override
    public void answered(Row row, Object answer) {
      switch (row.action()) {
        case "open" -> session = ((JsonObject) answer).getString("session");
        case "messages" -> got((JsonObject) answer);
        default -> {
          // Says nothing that a later request needs.
        }
      }
    }

    private void got(JsonObject answer) {
      messages.addAll(answer.getJsonArray("messages"));
    }
  }

  /**
   * Those after the first one name what that one has opened.
   *
   * @param field with its id, such as "track"
   */
  static Function<PageCluster, PreparedRequests> opened(
      String field, String open, String... others) {
    return cluster ->
        new PreparedRequests() {
          private String id;

          @Override
          public Object request(Row row) {
            if (row.action().equals(open)) {
              return row.request();
            }
            if (!List.of(others).contains(row.action())) {
              throw unknown(row);
            }
            return row.object().put(field, id);
          }

          @Override
          public void answered(Row row, Object answer) {
            if (row.action().equals(open)) {
              id = ((JsonObject) answer).getString(field);
            }
          }
        };
  }

  /** They replace n2, which they need empty, and then take it out. */
  record Cluster(PageCluster cluster) implements PreparedRequests {
    @Override
    public Object request(Row row) {
      switch (row.action()) {
        case "status", "replacement", "admit", "membership", "undrain", "remove" -> {}
        case "replace" -> {
          Node lost = cluster.trio().node(2);
          // If it were killed, requests to its gateway would get no answer until others notice.
          lost.stop();
          empty(lost.directory.resolve("data"));
          cluster.trio().begin(2);
        }
        case "drain" -> awaitReplaced();
        default -> throw unknown(row);
      }
      return row.request();
    }

    private void awaitReplaced() {
      JsonObject question = JsonObject.of("action", "replacement", "node", "n2");
      Wait.until(
          "n2 is replaced",
          () -> {
            JsonObject now = cluster.askObject(ApiAddresses.CLUSTER, question);
            return now.getString("state").equals("DONE");
          });
      cluster.trio().awaitReady(2);
    }

    private static void empty(Path data) {
      try (Stream<Path> all = Unchecked.get(() -> Files.walk(data))) {
        all.sorted(Comparator.reverseOrder())
            .forEach(each -> Unchecked.get(() -> Files.deleteIfExists(each)));
      }
    }
  }
}
