package dev.evenkeel.gateway;

import dev.evenkeel.api.ClusterStatusView;
import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.MemberQuestions;
import dev.evenkeel.bus.MemberQuestions.Placement;
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
record ClusterApi(Link link, ClusterCalls calls) {
  /** Longer than the wait for a replacement that goes on, shorter than the wait of HTTP. */
  private static final long REPLACE_TIMEOUT_MILLIS = 22_000;

  void serve(ApiAnswers answers) {
    answers.on(Operations.DESCRIBE_CLUSTER, all -> calls.view().compose(this::status));
    for (Operation<?, ?> each :
        List.of(
            Operations.GET_NODE_CHANGE,
            Operations.ADMIT_NODE,
            Operations.DRAIN_NODE,
            Operations.UNDRAIN_NODE,
            Operations.REMOVE_NODE,
            Operations.REPLACE_NODE,
            Operations.GET_REPLACEMENT)) {
      ofNode(answers, each);
    }
  }

  /** Asks the leader of meta the same: to change a node, or how far a change is. */
  private <Q extends Record, A> void ofNode(ApiAnswers answers, Operation<Q, A> operation) {
    answers.on(
        operation,
        asked ->
            calls
                .askMetaLeader(
                    Addresses::membership,
                    operation.ask(asked),
                    REPLACE_TIMEOUT_MILLIS,
                    operation != Operations.REPLACE_NODE)
                .map(answer -> operation.readAnswer(new JsonObject(answer))));
  }

  private Future<ClusterStatusView> status(ClusterView view) {
    return ClusterCalls.ofEachNode(
            link, Calls.READ_LOGS, ClusterStatus.nodes(view), ClusterApi::answered)
        .compose(
            answers -> {
              ClusterStatus status = new ClusterStatus(view, answers);
              return placement()
                  .compose(
                      placement ->
                          dispatcher(status.metaLeader())
                              .map(dispatcher -> status.view(dispatcher, placement)));
            });
  }

  /** Where the log groups are to be; null if nobody can tell now, as in a former version. */
  private Future<Placement> placement() {
    return calls
        .askMetaLeader(
            Addresses::membership,
            MemberQuestions.ask("placement", new MemberQuestions.Plain()),
            ClusterCalls.NODE_TIMEOUT_MILLIS,
            false)
        .map(JsonObject::new)
        .map(RecordJson.of(Placement.class)::read)
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
