package dev.evenkeel.gateway;

import dev.evenkeel.protocol.Limits;
import io.vertx.core.Future;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** Answers {@code evenkeel.api.groups} by asking the active dispatcher. */
final class GroupsApi {
  private static final List<String> FIELDS =
      List.of(
          "action",
          "group",
          "limit",
          "after",
          "deadLetter",
          "deadLetters",
          "all",
          "to",
          "topic",
          "shard",
          "force",
          "dryRun");

  private static final int MOVES_MAX = Limits.MOVES_KEPT_MAX;

  private final ClusterCalls calls;
  private final DeadLettersApi deadLetters;
  private final ResetApi resets;
  private final GroupDeletion deletion;

  GroupsApi(ClusterCalls calls) {
    this.calls = calls;
    deadLetters = new DeadLettersApi(calls);
    resets = new ResetApi(calls);
    deletion = new GroupDeletion(calls);
  }

  Future<Object> answer(JsonObject request) {
    JsonFields.onlyFields(request, FIELDS);
    String action = JsonFields.neededText(request, "action");
    String group = JsonFields.text(request, "group");
    JsonObject question = new JsonObject();
    switch (action) {
      case "list" -> {}
      case "get" -> question.put("group", JsonFields.neededText(request, "group"));
      case "dead-letters" -> {
        return deadLetters.list(request);
      }
      case "dead-letter" -> {
        return deadLetters.show(request);
      }
      case "replay", "drop" -> {
        return deadLetters.change(request, action.equals("replay"));
      }
      case "reset" -> {
        return resets.reset(request);
      }
      case "delete" -> {
        return deletion.delete(request);
      }
      // A null asks for the moves of all groups.
      case "rebalances" ->
          question
              .put("rebalances", group)
              .put("limit", (int) JsonFields.number(request, "limit", MOVES_MAX, 1, MOVES_MAX));
      default ->
          throw JsonFields.invalid(
              "unknown action '"
                  + action
                  + "': use list, get, rebalances, dead-letters, dead-letter, replay, drop, reset"
                  + " or delete");
    }
    return calls.askDispatcher(question).map(Json::decodeValue);
  }
}
