package dev.evenkeel.client.gateway;

import io.vertx.core.Future;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** Answers {@code evenkeel.api.groups} by asking the active dispatcher. */
final class GroupsApi {
  private static final List<String> FIELDS = List.of("action", "group");

  private final ClusterCalls calls;

  GroupsApi(ClusterCalls calls) {
    this.calls = calls;
  }

  Future<Object> answer(JsonObject request) {
    JsonFields.onlyFields(request, FIELDS);
    String action = JsonFields.neededText(request, "action");
    String group = JsonFields.text(request, "group");
    JsonObject question = new JsonObject();
    switch (action) {
      case "list" -> {}
      case "get" -> question.put("group", JsonFields.neededText(request, "group"));
      // A null asks for the moves of all groups.
      case "rebalances" -> question.put("rebalances", group);
      default ->
          throw JsonFields.invalid("unknown action '" + action + "': use list, get or rebalances");
    }
    return calls.askDispatcher(question).map(Json::decodeValue);
  }
}
