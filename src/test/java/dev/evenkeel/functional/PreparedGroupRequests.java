package dev.evenkeel.functional;

import dev.evenkeel.Wait;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.EventBusPage.Row;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HashSet;
import java.util.Set;

/**
 * Group billing, which reads orders and old-orders: three messages from offset 17 of shard 2 are
 * dead letters, and one waits for another attempt. Member c1 is there until offsets are reset.
 */
final class PreparedGroupRequests implements PreparedRequests {
  private static final String OPEN =
      "{'action':'open','group':'billing','member':'c1','order':'none',"
          + "'topics':['orders','old-orders'],'expiresMs':600000,";

  private final PageCluster cluster;
  private final JsonObject session;

  PreparedGroupRequests(PageCluster cluster) {
    this.cluster = cluster;
    cluster.ask(ApiAddresses.TOPICS, "{'action':'create','name':'old-orders','shards':1}");
    cluster.ask(ApiAddresses.PRODUCE, "{'topic':'old-orders','payload':'old'}");
    JsonObject first = open("'onFailure':'dead_letter'}");
    fail(first, Set.of("orders/2/17", "orders/2/18", "orders/2/19"));
    close(first);
    session = open("'retryDelaysMillis':[3600000]}");
    JsonObject sent =
        (JsonObject)
            cluster.ask(ApiAddresses.PRODUCE, "{'topic':'orders','key':'k8','payload':'hello'}");
    fail(session, Set.of(place("orders", sent)));
  }

  @Override
  public Object request(Row row) {
    switch (row.action()) {
      case "list", "get", "rebalances", "plan", "pause", "resume" -> {}
      case "dead-letters", "dead-letter", "retries", "replay", "drop", "delete" -> {}
      case "reset" -> close(session);
      default -> throw PreparedRequests.unknown(row);
    }
    return row.request();
  }

  /** Without its action. */
  private JsonObject open(String more) {
    JsonObject opened = (JsonObject) cluster.ask(ApiAddresses.SESSIONS, OPEN + more);
    return JsonObject.of("group", "billing", "session", opened.getString("session"));
  }

  private void close(JsonObject ended) {
    cluster.askObject(ApiAddresses.SESSIONS, ended.copy().put("action", "close"));
    JsonObject question = JsonObject.of("action", "get", "group", "billing");
    Wait.until(
        "nobody is in group billing",
        () -> cluster.askObject(ApiAddresses.GROUPS, question).getJsonArray("members").isEmpty());
  }

  /** Takes messages until these have come: they fail, the others are done. */
  private void fail(JsonObject by, Set<String> places) {
    Set<String> open = new HashSet<>(places);
    Wait.until(
        places + " come",
        () -> {
          JsonObject question = by.copy().put("action", "messages").put("waitMs", 1_000);
          JsonObject results = by.copy().put("action", "results");
          results.put("done", new JsonArray()).put("failed", new JsonArray());
          JsonObject given = cluster.askObject(ApiAddresses.SESSIONS, question);
          for (Object each : given.getJsonArray("messages")) {
            JsonObject message = (JsonObject) each;
            String topic = message.getString("topic");
            JsonObject place = JsonObject.of("topic", topic);
            for (String field : Set.of("shard", "offset", "epoch")) {
              place.put(field, message.getValue(field));
            }
            boolean fails = open.remove(place(topic, message));
            results.getJsonArray(fails ? "failed" : "done").add(place);
            if (fails) {
              place.put("error", "the database is away");
            }
          }
          cluster.askObject(ApiAddresses.SESSIONS, results);
          return open.isEmpty();
        });
  }

  private static String place(String topic, JsonObject message) {
    return topic + "/" + message.getInteger("shard") + "/" + message.getLong("offset");
  }
}
