package dev.evenkeel.client.internal.session;

import dev.evenkeel.bus.NodePlace;
import dev.evenkeel.protocol.HostPort;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Where the nodes of the cluster are: the seeds that the application named, and what nodes have
 * told in their WELCOMEs.
 */
final class KnownNodes {
  /** Most nodes that are remembered besides the seeds. */
  static final int NODES_MAX = 64;

  private final List<HostPort> seeds;

  /** Node id → address; the latest last. */
  private final Map<String, HostPort> learned = new LinkedHashMap<>();

  /** Ids of the nodes that the last WELCOME named. */
  private List<String> present = List.of();

  KnownNodes(List<HostPort> seeds) {
    this.seeds = List.copyOf(seeds);
  }

  /** Remembers these nodes; beyond the limit, it forgets the oldest. */
  void learn(List<NodePlace> nodes) {
    List<String> named = new ArrayList<>();
    for (NodePlace node : nodes) {
      if (named.size() < NODES_MAX && isAddress(node)) {
        named.add(node.node());
        learned.remove(node.node());
        learned.put(node.node(), new HostPort(node.host(), node.port()));
      }
    }
    present = List.copyOf(named);
    var oldest = learned.keySet().iterator();
    while (learned.size() > NODES_MAX) {
      oldest.next();
      oldest.remove();
    }
  }

  private static boolean isAddress(NodePlace node) {
    return node.node() != null
        && node.host() != null
        && !node.host().isEmpty()
        && node.port() > 0
        && node.port() <= HostPort.PORT_MAX;
  }

  /** Ids of the nodes that the cluster has, as far as it is known. */
  List<String> present() {
    return present;
  }

  /** The address of a node, or null if no WELCOME has named it. */
  HostPort address(String node) {
    return learned.get(node);
  }

  /** Every address at which a node may answer, each once; the seeds first. */
  List<HostPort> addresses() {
    Set<HostPort> all = new LinkedHashSet<>(seeds);
    all.addAll(learned.values());
    return List.copyOf(all);
  }

  List<HostPort> seeds() {
    return seeds;
  }
}
