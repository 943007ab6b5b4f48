package dev.evenkeel.gateway;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.NodeLogs;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Answers {@code evenkeel.api.cluster}: the nodes and the log groups as all brokers together see
 * them. A node that does not answer within {@link #TIMEOUT_MILLIS} is unknown, not an error.
 */
final class ClusterApi {
  /** Short: people look at it, and a dead node must not make them wait. */
  private static final long TIMEOUT_MILLIS = 1_000;

  /** Longer than the answer to a replacement that goes on, shorter than HTTP waits. */
  private static final long REPLACE_TIMEOUT_MILLIS = 22_000;

  private final Link link;
  private final ClusterCalls calls;

  ClusterApi(Link link, ClusterCalls calls) {
    this.link = link;
    this.calls = calls;
  }

  Future<Object> answer(JsonObject request) {
    String action = JsonFields.neededText(request, "action");
    return switch (action) {
      case "status" -> {
        JsonFields.onlyFields(request, List.of("action"));
        yield calls.view().compose(this::status);
      }
      case "replace", "replacement" -> replacement(request, action);
      default ->
          throw JsonFields.invalid(
              "unknown action '" + action + "': use status, replace or replacement");
    };
  }

  /** The node that leads meta replaces a node, or tells how far it is. */
  private Future<Object> replacement(JsonObject request, String action) {
    JsonFields.onlyFields(request, List.of("action", "node"));
    JsonObject question =
        new JsonObject().put("action", action).put("node", JsonFields.neededText(request, "node"));
    return calls
        .askMetaLeader(Addresses::membership, question, REPLACE_TIMEOUT_MILLIS, false)
        .map(JsonObject::new);
  }

  private Future<Object> status(ClusterView view) {
    Map<String, Future<ClusterStatus.Answer>> asked = new HashMap<>();
    ClusterStatus.nodes(view).forEach(node -> asked.put(node, ask(node)));
    return Future.join(new ArrayList<>(asked.values()))
        .compose(
            all -> {
              Map<String, ClusterStatus.Answer> answers = new HashMap<>();
              asked.forEach((node, answer) -> answers.put(node, answer.result()));
              ClusterStatus status = new ClusterStatus(view, answers);
              return dispatcher(status.metaLeader()).<Object>map(status::json);
            });
  }

  /** Never fails. */
  private Future<ClusterStatus.Answer> ask(String node) {
    Buffer question = Frames.request(Op.READ_LOGS, new Bytes());
    return link.request(Addresses.control(node), question, TIMEOUT_MILLIS)
        .map(ClusterApi::answered)
        .otherwise(
            failure ->
                failure instanceof RefusedException refused
                        && refused.refusal() == Refusal.UNAVAILABLE
                    ? ClusterStatus.Answer.GONE
                    : ClusterStatus.Answer.SILENT);
  }

  private static ClusterStatus.Answer answered(Buffer answer) {
    try {
      ByteReader in = Frames.answerReader(answer);
      return new ClusterStatus.Answer(true, NodeLogs.decode(in));
    } catch (RefusedException e) {
      // It is there, though it cannot or will not tell.
      return new ClusterStatus.Answer(true, null);
    }
  }

  /** The node whose dispatcher answers, or null: to lead meta is not yet to serve. */
  private Future<String> dispatcher(String metaLeader) {
    if (metaLeader == null) {
      return Future.succeededFuture();
    }
    JsonObject question = new JsonObject().putNull("rebalances").put("limit", 0);
    return link.request(Addresses.groups(metaLeader), question.toBuffer(), TIMEOUT_MILLIS)
        .map(Frames::answerBody)
        .map(answer -> metaLeader)
        .otherwiseEmpty();
  }
}
