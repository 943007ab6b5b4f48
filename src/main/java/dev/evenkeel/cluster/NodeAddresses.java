package dev.evenkeel.cluster;

import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * Which addresses of the event bus are served by which node. The member list then says where such
 * an address is: nobody has to look into a shared map.
 *
 * @param node name of this node
 * @param own the addresses that belong to this node and to no other
 * @param nodeOf name of the node that an address belongs to; null if it belongs to none
 * @param everyNode whether messages that are published to an address are for every node
 */
public record NodeAddresses(
    String node, Set<String> own, UnaryOperator<String> nodeOf, Predicate<String> everyNode) {

  /** A node without a name: others find it by the shared maps. */
  static final NodeAddresses NONE =
      new NodeAddresses(null, Set.of(), address -> null, address -> false);

  public NodeAddresses {
    own = Set.copyOf(own);
  }
}
