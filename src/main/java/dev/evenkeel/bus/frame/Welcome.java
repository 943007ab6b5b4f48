package dev.evenkeel.bus.frame;

import dev.evenkeel.api.Default;
import dev.evenkeel.api.LeftOut;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.bus.NodePlace;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;

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
    @Default("") String server,
    List<NodePlace> nodes,
    Limits limits,
    @LeftOut @Nullable String principal,
    @LeftOut boolean traces) {
  /** To a client of a cluster without users. */
  public Welcome(int version, String node, String server, List<NodePlace> nodes, Limits limits) {
    this(version, node, server, nodes, limits, null, false);
  }

  /** The same to a client of that user. */
  public Welcome to(String user) {
    return new Welcome(version, node, server, nodes, limits, user, traces);
  }

  /** The same with these nodes. */
  public Welcome with(List<NodePlace> newNodes) {
    return new Welcome(version, node, server, newNodes, limits, principal, traces);
  }

  /** The same from a node that makes spans of requests. */
  public Welcome tracing() {
    return new Welcome(version, node, server, nodes, limits, principal, true);
  }

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
    return RecordJson.json(this);
  }

  /**
   * @throws RefusedException INVALID if a field is missing or of the wrong type
   */
  public static Welcome fromJson(JsonObject json) {
    return RecordJson.of(Welcome.class).read(json);
  }
}
