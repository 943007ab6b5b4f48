package dev.evenkeel.broker.member;

import dev.evenkeel.log.NodeCard;
import dev.evenkeel.log.NodeCard.Stage;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * What a node answers about itself.
 *
 * @param dispatcher whether it has the dispatcher role, so that it may lead meta
 * @param serving whether it is ready, and not about to stop
 */
record Peer(NodeCard card, boolean dispatcher, boolean serving) {

  Buffer toBuffer() {
    return new JsonObject()
        .put("node", card.node())
        .put("incarnation", card.incarnation())
        .put("stage", card.stage().name())
        .put("clusterId", card.clusterId())
        .put("voters", new JsonArray(card.voters()))
        .put("peers", new JsonArray(card.peers()))
        .put("dataGroups", card.dataGroups())
        .put("dispatcher", dispatcher)
        .put("serving", serving)
        .toBuffer();
  }

  static Peer of(Buffer buffer) {
    JsonObject json = buffer.toJsonObject();
    NodeCard card =
        new NodeCard(
            json.getString("node"),
            json.getString("incarnation"),
            Stage.valueOf(json.getString("stage")),
            json.getString("clusterId"),
            texts(json.getJsonArray("voters")),
            texts(json.getJsonArray("peers")),
            json.getInteger("dataGroups"));
    return new Peer(card, json.getBoolean("dispatcher"), json.getBoolean("serving"));
  }

  private static List<String> texts(JsonArray array) {
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < array.size(); i++) {
      texts.add(array.getString(i));
    }
    return texts;
  }
}
