package dev.evenkeel.broker.member;

import dev.evenkeel.api.RecordJson;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.MemberQuestions;
import dev.evenkeel.bus.MemberQuestions.Plain;
import dev.evenkeel.bus.VertxLink;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Questions to the membership address of other nodes. */
record PeerCalls(Vertx vertx) {
  private static final long PEER_MILLIS_MAX = 1_000;

  /** Fails with {@code RefusedException}. */
  <A extends Record> Future<A> ask(
      String node, String action, Record question, Class<A> answer, long millisMax) {
    Buffer body = MemberQuestions.ask(action, question).toBuffer();
    return VertxLink.send(vertx, Addresses.membership(node), body, millisMax)
        .map(frame -> new JsonObject(Frames.copy(Frames.answerBody(frame))))
        .map(RecordJson.of(answer)::read);
  }

  Future<Peer> peer(String node) {
    return ask(node, "card", new Plain(), Peer.class, PEER_MILLIS_MAX);
  }

  /** The answers of the nodes that answer. */
  Future<Map<String, Peer>> peers(Collection<String> nodes) {
    Map<String, Peer> peers = new ConcurrentHashMap<>();
    return Future.join(
            nodes.stream()
                .map(
                    node ->
                        peer(node).onSuccess(peer -> peers.put(node, peer)).otherwise((Peer) null))
                .toList())
        .map(done -> peers);
  }
}
