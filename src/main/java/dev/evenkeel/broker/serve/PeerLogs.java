package dev.evenkeel.broker.serve;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.NodeLogs;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Asks the other nodes about their logs. Runs on one context. */
final class PeerLogs {
  private static final long ANSWER_MILLIS_MAX = 1_500;

  private final Vertx vertx;
  private final List<String> others;

  PeerLogs(Vertx vertx, List<String> others) {
    this.vertx = vertx;
    this.others = List.copyOf(others);
  }

  List<String> others() {
    return others;
  }

  /** The answers of those who answer, by node. Never fails. */
  Future<Map<String, NodeLogs>> ask() {
    Map<String, NodeLogs> answers = new TreeMap<>();
    List<Future<?>> asked = new ArrayList<>();
    for (String node : others) {
      asked.add(
          VertxLink.send(
                  vertx,
                  Addresses.control(node),
                  Frames.request(Op.READ_LOGS, new Bytes()),
                  ANSWER_MILLIS_MAX)
              .map(answer -> NodeLogs.decode(Frames.answerReader(answer)))
              .onSuccess(logs -> answers.put(node, logs)));
    }
    return Future.join(asked).transform(done -> Future.succeededFuture(answers));
  }
}
