package dev.evenkeel.gateway;

import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** Says who would own the shards of a group after a change, without making it. */
final class PlanApi {
  /** Fields of the request beside the group. */
  static final List<String> FIELDS = List.of("add", "remove", "kill", "assignor", "shards");

  private static final int ADD_MAX = 1_000;

  private final ClusterCalls calls;

  PlanApi(ClusterCalls calls) {
    this.calls = calls;
  }

  Future<Object> plan(JsonObject request) {
    JsonObject question =
        new JsonObject()
            .put("group", JsonFields.neededText(request, "group"))
            .put("add", (int) JsonFields.number(request, "add", 0, 0, ADD_MAX))
            .put("remove", members(request))
            .put("assignor", JsonFields.text(request, "assignor"))
            .put("shards", shards(request));
    String node = JsonFields.text(request, "kill");
    Future<JsonObject> asked =
        node == null
            ? Future.succeededFuture(question)
            : clusterMember(node).map(gone -> question.put("gone", gone));
    return asked
        .compose(change -> calls.askDispatcher(new JsonObject().put("plan", change)))
        .map(Json::decodeValue)
        .map(PlanApi::plan);
  }

  private static Object plan(Object answer) {
    if (answer instanceof JsonObject plan && plan.containsKey("moves")) {
      return plan;
    }
    // A dispatcher of version 0.1 takes it for another question.
    throw new RefusedException(
        Refusal.UNAVAILABLE, "plans need version 0.2 or later on every node: see 'cluster status'");
  }

  private static JsonArray members(JsonObject request) {
    JsonArray members = JsonFields.arrayField(request, "remove");
    if (members == null) {
      return new JsonArray();
    }
    if (members.stream().anyMatch(member -> !(member instanceof String))) {
      throw JsonFields.invalid("the field 'remove' must be an array of names of members");
    }
    return members;
  }

  private static JsonObject shards(JsonObject request) {
    JsonObject shards = JsonFields.objectField(request, "shards");
    JsonObject checked = new JsonObject();
    if (shards != null) {
      for (String topic : shards.fieldNames()) {
        checked.put(topic, (int) JsonFields.number(shards, topic, 0, 1, Limits.SHARDS_MAX));
        if (shards.getValue(topic) == null) {
          checked.remove(topic);
        }
      }
    }
    return checked;
  }

  /** The id of a node as a cluster member: consumers that run on it name it in their heartbeats. */
  private Future<String> clusterMember(String node) {
    return calls
        .view()
        .map(ClusterView::nodes)
        .compose(
            nodes -> {
              if (!nodes.contains(node)) {
                throw JsonFields.invalid(
                    "there is no node '" + node + "': the nodes are " + String.join(", ", nodes));
              }
              return calls.clusterMemberOf(node);
            });
  }
}
