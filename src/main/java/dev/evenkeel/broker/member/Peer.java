package dev.evenkeel.broker.member;

import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.NodeInfo;
import dev.evenkeel.log.NodeInfo.Stage;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a node reports about itself.
 *
 * @param dispatcher whether it has the dispatcher role, so that it may lead meta
 * @param serving whether it is ready, and not about to stop
 * @param ineligible log groups that it should not lead
 */
record Peer(NodeInfo info, boolean dispatcher, boolean serving, Set<String> ineligible) {

  Peer {
    ineligible = Set.copyOf(ineligible);
  }

  /** The log groups that it should not lead, for any reason. */
  Set<String> unfit() {
    Set<String> unfit = new HashSet<>(ineligible);
    if (!dispatcher) {
      unfit.add(LogNode.META);
    }
    return unfit;
  }

  Buffer toBuffer() {
    return new JsonObject()
        .put("node", info.node())
        .put("incarnation", info.incarnation())
        .put("stage", info.stage().name())
        .put("clusterId", info.clusterId())
        .put("voters", new JsonArray(info.voters()))
        .put("peers", new JsonArray(info.peers()))
        .put("dataGroups", info.dataGroups())
        .put("dispatcher", dispatcher)
        .put("serving", serving)
        .put("ineligible", new JsonArray(List.copyOf(ineligible)))
        .toBuffer();
  }

  static Peer of(Buffer buffer) {
    JsonObject json = buffer.toJsonObject();
    NodeInfo info =
        new NodeInfo(
            json.getString("node"),
            json.getString("incarnation"),
            Stage.valueOf(json.getString("stage")),
            json.getString("clusterId"),
            texts(json.getJsonArray("voters")),
            texts(json.getJsonArray("peers")),
            json.getInteger("dataGroups"));
    return new Peer(
        info,
        json.getBoolean("dispatcher"),
        json.getBoolean("serving"),
        Set.copyOf(texts(json.getJsonArray("ineligible", new JsonArray()))));
  }

  private static List<String> texts(JsonArray array) {
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < array.size(); i++) {
      texts.add(array.getString(i));
    }
    return texts;
  }
}
