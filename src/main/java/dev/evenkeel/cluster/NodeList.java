package dev.evenkeel.cluster;

import com.hazelcast.cluster.Member;
import com.hazelcast.config.Config;
import dev.evenkeel.protocol.HostPort;
import io.vertx.core.spi.cluster.NodeInfo;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * What the member list says of the members at one moment. Nodes say in attributes of their member
 * what they are called and where their event bus listens. Applications with a Vert.x of their own,
 * and nodes of former versions, have no such attributes.
 *
 * @param ids the Vert.x node ids of all members
 * @param idOfNode Vert.x node id by the name of a node
 * @param infoOfId where the event bus of a named node listens, by Vert.x node id
 * @param allNamed whether every member that holds data says its name
 */
record NodeList(
    Set<String> ids,
    Map<String, String> idOfNode,
    Map<String, NodeInfo> infoOfId,
    boolean allNamed) {

  /** The attribute in which vertx-hazelcast keeps a member's Vert.x node id. */
  static final String ID = "__vertx.nodeId";

  private static final String NODE = "evenkeel.node";
  private static final String BUS = "evenkeel.bus";
  private static final String BEGUN = "evenkeel.begun";

  NodeList {
    ids = Set.copyOf(ids);
    idOfNode = Map.copyOf(idOfNode);
    infoOfId = Map.copyOf(infoOfId);
  }

  /**
   * Makes the member of {@code config} say what it is called, where its event bus is, and when it
   * began.
   */
  static void announce(Config config, String node, HostPort bus, long nowMillis) {
    config
        .getMemberAttributeConfig()
        .setAttribute(NODE, node)
        .setAttribute(BUS, bus.toString())
        .setAttribute(BEGUN, Long.toString(nowMillis));
  }

  /**
   * @param members in any order: of two with the same name the one that began later counts, because
   *     a node may be back before its former process counts as gone. The order in which they have
   *     joined does not say it: a former process that was cut off joins again in a merge.
   */
  static NodeList of(Iterable<Member> members) {
    Set<String> ids = new HashSet<>();
    Map<String, String> idOfNode = new HashMap<>();
    Map<String, NodeInfo> infoOfId = new HashMap<>();
    Map<String, Long> begunOfNode = new HashMap<>();
    boolean allNamed = true;
    for (Member member : members) {
      String id = member.getAttribute(ID);
      if (id == null) {
        continue;
      }
      ids.add(id);
      String node = member.getAttribute(NODE);
      String place = member.getAttribute(BUS);
      if (node != null && place != null && !member.isLiteMember()) {
        HostPort bus = HostPort.parse(place);
        long begun = begun(member);
        if (begun >= begunOfNode.getOrDefault(node, Long.MIN_VALUE)) {
          begunOfNode.put(node, begun);
          idOfNode.put(node, id);
        }
        infoOfId.put(id, new NodeInfo(bus.host(), bus.port(), null));
      } else {
        allNamed &= member.isLiteMember();
      }
    }
    return new NodeList(ids, idOfNode, infoOfId, allNamed);
  }

  private static long begun(Member member) {
    String millis = member.getAttribute(BEGUN);
    return millis == null ? 0 : Long.parseLong(millis);
  }
}
