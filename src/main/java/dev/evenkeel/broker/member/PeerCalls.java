package dev.evenkeel.broker.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.VertxLink;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Questions to the membership address of other nodes. */
record PeerCalls(Vertx vertx) {
  private static final long PEER_MILLIS_MAX = 1_000;

  /** Fails with {@code RefusedException}. */
  Future<Buffer> ask(String node, JsonObject question, long millisMax) {
    return VertxLink.send(vertx, Addresses.membership(node), question.toBuffer(), millisMax)
        .map(answer -> copy(Frames.answerBody(answer)));
  }

  Future<Peer> peer(String node) {
    return ask(node, new JsonObject().put("action", "card"), PEER_MILLIS_MAX).map(Peer::of);
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

  private static Buffer copy(ByteBuffer body) {
    byte[] bytes = new byte[body.remaining()];
    body.get(bytes);
    return Buffer.buffer(bytes);
  }
}
