package dev.evenkeel.broker.member;

import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.NodeInfo;
import dev.evenkeel.log.NodeInfo.Stage;
import dev.evenkeel.protocol.ClusterNode;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a node reports about itself.
 *
 * @param dispatcher whether it has the dispatcher role, so that it may lead meta
 * @param serving whether it is ready, and not about to stop
 * @param ineligible log groups that it should not lead
 * @param place where it is; null: it does not say
 * @param level the highest {@link dev.evenkeel.protocol.wire.FeatureLevel} that it reads
 * @param copying the bytes that it still lacks of a log group, by its name, while it copies it
 * @param holds the log groups of which it has anything
 * @param leads what it says of the log groups that it leads, by name
 */
record Peer(
    NodeInfo info,
    boolean dispatcher,
    boolean serving,
    Set<String> ineligible,
    Place place,
    int level,
    Map<String, Long> copying,
    Set<String> holds,
    Map<String, Led> leads) {

  /**
   * A log group, as its leader sees it.
   *
   * @param voters names of its voters
   * @param listeners names of those who follow it without a vote
   * @param bytes of one copy
   */
  record Led(Set<String> voters, Set<String> listeners, long bytes) {
    Led {
      voters = Set.copyOf(voters);
      listeners = Set.copyOf(listeners);
    }

    private static Led of(JsonObject json) {
      return new Led(
          Set.copyOf(texts(json.getJsonArray("voters"))),
          Set.copyOf(texts(json.getJsonArray("listeners", new JsonArray()))),
          json.getLong("bytes"));
    }

    private JsonObject toJson() {
      return new JsonObject()
          .put("voters", new JsonArray(List.copyOf(voters)))
          .put("listeners", new JsonArray(List.copyOf(listeners)))
          .put("bytes", bytes);
    }
  }

  /**
   * Where a node is.
   *
   * @param host at which others reach it
   * @param port base of its ports
   * @param zone empty: not known
   */
  record Place(String host, int port, String zone) {
    static Place of(JsonObject json) {
      return json.getString("host") == null
          ? null
          : new Place(json.getString("host"), json.getInteger("port"), json.getString("zone", ""));
    }

    JsonObject into(JsonObject json) {
      return json.put("host", host).put("port", port).put("zone", zone);
    }

    ClusterNode member(String node) {
      return new ClusterNode(node, host, port, zone, ClusterNode.State.MEMBER);
    }
  }

  /** A node that says nothing of its place. */
  Peer(NodeInfo info, boolean dispatcher, boolean serving, Set<String> ineligible) {
    this(
        info,
        dispatcher,
        serving,
        ineligible,
        null,
        FeatureLevel.FIRST,
        Map.of(),
        Set.of(),
        Map.of());
  }

  Peer {
    ineligible = Set.copyOf(ineligible);
    copying = Map.copyOf(copying);
    holds = Set.copyOf(holds);
    leads = Map.copyOf(leads);
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
    JsonObject lacks = new JsonObject();
    copying.forEach(lacks::put);
    JsonObject led = new JsonObject();
    leads.forEach((group, each) -> led.put(group, each.toJson()));
    JsonObject json = place == null ? new JsonObject() : place.into(new JsonObject());
    return json.put("node", info.node())
        .put("incarnation", info.incarnation())
        .put("stage", info.stage().name())
        .put("clusterId", info.clusterId())
        .put("voters", new JsonArray(info.voters()))
        .put("peers", new JsonArray(info.peers()))
        .put("dataGroups", info.dataGroups())
        .put("dispatcher", dispatcher)
        .put("serving", serving)
        .put("ineligible", new JsonArray(List.copyOf(ineligible)))
        .put("level", level)
        .put("copying", lacks)
        .put("holds", new JsonArray(List.copyOf(holds)))
        .put("leads", led)
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
        Set.copyOf(texts(json.getJsonArray("ineligible", new JsonArray()))),
        Place.of(json),
        json.getInteger("level", FeatureLevel.FIRST),
        copying(json.getJsonObject("copying", new JsonObject())),
        Set.copyOf(texts(json.getJsonArray("holds", new JsonArray()))),
        leads(json.getJsonObject("leads", new JsonObject())));
  }

  private static Map<String, Long> copying(JsonObject json) {
    Map<String, Long> copying = new TreeMap<>();
    json.fieldNames().forEach(group -> copying.put(group, json.getLong(group)));
    return copying;
  }

  private static Map<String, Led> leads(JsonObject json) {
    Map<String, Led> leads = new TreeMap<>();
    json.fieldNames().forEach(group -> leads.put(group, Led.of(json.getJsonObject(group))));
    return leads;
  }

  private static List<String> texts(JsonArray array) {
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < array.size(); i++) {
      texts.add(array.getString(i));
    }
    return texts;
  }
}
