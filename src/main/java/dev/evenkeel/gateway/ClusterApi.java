package dev.evenkeel.gateway;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.NodeLogs;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.ByteReader;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * Answers {@code evenkeel.api.cluster}: shows the nodes and the log groups as all brokers together
 * see them, and replaces nodes. A node that does not answer within {@link
 * ClusterCalls#NODE_TIMEOUT_MILLIS} is unknown, not an error.
 */
final class ClusterApi {
  /** Longer than the wait for a replacement that goes on, shorter than the wait of HTTP. */
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
      case "replace", "replacement", "drain", "undrain", "remove", "admit", "membership" ->
          ofNode(request, action);
      default ->
          throw JsonFields.invalid(
              "unknown action '"
                  + action
                  + "': use status, membership, admit, drain, undrain, remove, replace or"
                  + " replacement");
    };
  }

  /** Asks the leader of meta to change a node, or how far a change is. */
  private Future<Object> ofNode(JsonObject request, String action) {
    JsonFields.onlyFields(request, List.of("action", "node"));
    JsonObject question =
        new JsonObject().put("action", action).put("node", JsonFields.neededText(request, "node"));
    return calls
        .askMetaLeader(
            Addresses::membership, question, REPLACE_TIMEOUT_MILLIS, !action.equals("replace"))
        .map(JsonObject::new);
  }

  private Future<Object> status(ClusterView view) {
    return ClusterCalls.ofEachNode(link, ClusterStatus.nodes(view), ClusterApi::answered)
        .compose(
            answers -> {
              ClusterStatus status = new ClusterStatus(view, answers);
              return placement()
                  .compose(
                      placement ->
                          dispatcher(status.metaLeader())
                              .<Object>map(dispatcher -> status.json(dispatcher, placement)));
            });
  }

  /** Where the log groups are to be; null if nobody can tell now, as in a former version. */
  private Future<JsonObject> placement() {
    return calls
        .askMetaLeader(
            Addresses::membership,
            new JsonObject().put("action", "placement"),
            ClusterCalls.NODE_TIMEOUT_MILLIS,
            false)
        .map(JsonObject::new)
        .otherwiseEmpty();
  }

  /** Never fails. */
  private static Future<ClusterStatus.Answer> answered(Future<Buffer> request) {
    return request
        .map(ClusterApi::read)
        .otherwise(
            failure ->
                failure instanceof RefusedException refused
                        && refused.refusal() == Refusal.UNAVAILABLE
                    ? ClusterStatus.Answer.GONE
                    : ClusterStatus.Answer.SILENT);
  }

  private static ClusterStatus.Answer read(Buffer answer) {
    try {
      ByteReader in = Frames.answerReader(answer);
      return new ClusterStatus.Answer(true, NodeLogs.decode(in));
    } catch (RefusedException e) {
      // The node is alive, although it does not tell its logs.
      return new ClusterStatus.Answer(true, null);
    }
  }

  /** The node whose dispatcher answers, or null: to lead meta is not yet to serve. */
  private Future<String> dispatcher(String metaLeader) {
    if (metaLeader == null) {
      return Future.succeededFuture();
    }
    return calls
        .dispatcherAnswers(metaLeader, ClusterCalls.NODE_TIMEOUT_MILLIS)
        .map(answer -> metaLeader)
        .otherwiseEmpty();
  }
}
