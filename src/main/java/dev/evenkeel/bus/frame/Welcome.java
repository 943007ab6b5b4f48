package dev.evenkeel.bus.frame;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * A node's answer to {@link Hello}, as JSON: {@code
 * {"version":1,"node":"n1","server":"…","nodes":[{"node","host","port"}],"limits":{…}}}.
 *
 * @param version protocol version of this connection
 * @param node id of the node that answers
 * @param server what the node is, for people: product and version
 * @param nodes every node with the address of its client port
 * @param principal name of the user that the client belongs to; null: the cluster has no users
 * @param traces whether the node takes frames TRACE
 */
public record Welcome(
    int version,
    String node,
    String server,
    List<Node> nodes,
    Limits limits,
    String principal,
    boolean traces) {
  /** To a client of a cluster without users. */
  public Welcome(int version, String node, String server, List<Node> nodes, Limits limits) {
    this(version, node, server, nodes, limits, null, false);
  }

  /** The same to a client of that user. */
  public Welcome to(String user) {
    return new Welcome(version, node, server, nodes, limits, user, traces);
  }

  /** The same with these nodes. */
  public Welcome with(List<Node> newNodes) {
    return new Welcome(version, node, server, newNodes, limits, principal, traces);
  }

  /** The same from a node that makes spans of requests. */
  public Welcome tracing() {
    return new Welcome(version, node, server, nodes, limits, principal, true);
  }

  /** Where a node takes connections. */
  public record Node(String node, String host, int port) {}

  /**
   * What the node allows one session.
   *
   * @param bodyBytesMax longest body of a frame, in both directions
   * @param requestsInFlightMax requests without an answer
   * @param requestBytesInFlightMax bytes of their bodies
   * @param keepAliveMillis send a frame, PING if nothing else, at least this often. A connection
   *     that is silent for three times as long is closed
   */
  public record Limits(
      int bodyBytesMax,
      int requestsInFlightMax,
      long requestBytesInFlightMax,
      long keepAliveMillis) {}

  public JsonObject toJson() {
    JsonArray all = new JsonArray();
    for (Node each : nodes) {
      all.add(
          new JsonObject()
              .put("node", each.node())
              .put("host", each.host())
              .put("port", each.port()));
    }
    JsonObject json =
        new JsonObject()
            .put("version", version)
            .put("node", node)
            .put("server", server)
            .put("nodes", all)
            .put(
                "limits",
                new JsonObject()
                    .put("bodyBytesMax", limits.bodyBytesMax())
                    .put("requestsInFlightMax", limits.requestsInFlightMax())
                    .put("requestBytesInFlightMax", limits.requestBytesInFlightMax())
                    .put("keepAliveMillis", limits.keepAliveMillis()));
    if (principal != null) {
      json.put("principal", principal);
    }
    return traces ? json.put("traces", true) : json;
  }

  /**
   * @throws ClassCastException or NullPointerException if a field is missing or of the wrong type
   */
  public static Welcome fromJson(JsonObject json) {
    List<Node> nodes = new ArrayList<>();
    for (Object each : json.getJsonArray("nodes")) {
      JsonObject node = (JsonObject) each;
      nodes.add(new Node(node.getString("node"), node.getString("host"), node.getInteger("port")));
    }
    JsonObject limits = json.getJsonObject("limits");
    return new Welcome(
        json.getInteger("version"),
        json.getString("node"),
        json.getString("server", ""),
        List.copyOf(nodes),
        new Limits(
            limits.getInteger("bodyBytesMax"),
            limits.getInteger("requestsInFlightMax"),
            limits.getLong("requestBytesInFlightMax"),
            limits.getLong("keepAliveMillis")),
        json.getString("principal"),
        json.getBoolean("traces", false));
  }
}
