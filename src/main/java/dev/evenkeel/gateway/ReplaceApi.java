package dev.evenkeel.gateway;

import dev.evenkeel.bus.Addresses;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * Answers {@code replace} and {@code replacement} of {@code evenkeel.api.cluster} by asking the
 * node that leads meta.
 */
final class ReplaceApi {
  private static final List<String> FIELDS = List.of("action", "node");

  /** Longer than the answer to a replacement that goes on, shorter than HTTP waits. */
  private static final long TIMEOUT_MILLIS = 22_000;

  private final ClusterCalls calls;

  ReplaceApi(ClusterCalls calls) {
    this.calls = calls;
  }

  Future<Object> answer(JsonObject request) {
    JsonFields.onlyFields(request, FIELDS);
    String action = JsonFields.neededText(request, "action");
    if (!action.equals("replace") && !action.equals("replacement")) {
      throw JsonFields.invalid("unknown action '" + action + "': use replace or replacement");
    }
    JsonObject question =
        new JsonObject().put("action", action).put("node", JsonFields.neededText(request, "node"));
    return calls
        .askMetaLeader(Addresses::membership, question, TIMEOUT_MILLIS, false)
        .map(JsonObject::new);
  }
}
