package dev.evenkeel.cluster;

import com.hazelcast.cluster.Member;
import com.hazelcast.core.HazelcastInstance;
import io.vertx.core.Vertx;
import io.vertx.spi.cluster.hazelcast.impl.HazelcastRegistrationInfo;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the event-bus registrations of members that have left. Vert.x does so when a member
 * leaves, but only once: registrations stay for ever if the maps have no owners at that moment, or
 * if a part of the cluster that still knows the member merges later. Then the requests to an
 * address of a client that has joined again go in turn to the client and to nobody.
 *
 * <p>The oldest node does this. Times are monotonic.
 */
final class FormerRegistrations {
  /** Time between two looks. Each one asks the nodes for all registrations. */
  static final long LOOK_MILLIS = 2_000;

  /**
   * How long a registered member may be unknown here: a new member registers before everybody has
   * heard of it.
   */
  static final long PATIENCE_MILLIS = 5_000;

  /** The attribute in which vertx-hazelcast keeps a member's Vert.x node id. */
  static final String NODE_ID_ATTRIBUTE = "__vertx.nodeId";

  /** The map in which it keeps who listens at which address. */
  static final String REGISTRATIONS = "__vertx.subs";

  /** The map in which it keeps the ports of Vert.x nodes. */
  static final String NODES = "__vertx.nodeInfo";

  private static final Logger LOG = LoggerFactory.getLogger(FormerRegistrations.class);

  private final HazelcastInstance hazelcast;

  /**
   * When registered nodes that are not members were seen first. Only the look under way uses it.
   */
  private final Map<String, Long> strangers = new HashMap<>();

  private boolean looking;

  FormerRegistrations(HazelcastInstance hazelcast) {
    this.hazelcast = hazelcast;
  }

  /** Begins to look periodically, one look at a time. */
  void begin(Vertx vertx) {
    vertx.setPeriodic(
        LOOK_MILLIS,
        timer -> {
          if (!looking) {
            looking = true;
            vertx.executeBlocking(this::look, false).onComplete(looked -> looking = false);
          }
        });
  }

  /** Blocks on the maps. Fails while they are out of reach; then the next look tries again. */
  private Void look() {
    Collection<Member> members = hazelcast.getCluster().getMembers();
    Member first =
        members.stream().filter(member -> !member.isLiteMember()).findFirst().orElse(null);
    if (first == null || !first.localMember()) {
      strangers.clear();
      return null;
    }
    var registrations =
        hazelcast.<String, HazelcastRegistrationInfo>getMultiMap(REGISTRATIONS).entrySet();
    Set<String> registered = new HashSet<>(hazelcast.<String, Object>getMap(NODES).keySet());
    registrations.forEach(each -> registered.add(each.getValue().unwrap().nodeId()));
    Set<String> known = new HashSet<>();
    hazelcast
        .getCluster()
        .getMembers()
        .forEach(member -> known.add(member.getAttribute(NODE_ID_ATTRIBUTE)));
    Set<String> gone =
        gone(registered, known, TimeUnit.NANOSECONDS.toMillis(System.nanoTime()), strangers);
    for (var each : registrations) {
      if (gone.contains(each.getValue().unwrap().nodeId())) {
        hazelcast.getMultiMap(REGISTRATIONS).remove(each.getKey(), each.getValue());
      }
    }
    gone.forEach(hazelcast.getMap(NODES)::delete);
    if (!gone.isEmpty()) {
      LOG.info("removed event-bus registrations of members that have left: {}", gone);
    }
    return null;
  }

  /**
   * The nodes that have been registered for {@link #PATIENCE_MILLIS} without being members.
   *
   * @param strangers when each such node was seen first; updated here
   */
  static Set<String> gone(
      Set<String> registered, Set<String> members, long nowMillis, Map<String, Long> strangers) {
    strangers.keySet().retainAll(registered);
    strangers.keySet().removeAll(members);
    Set<String> gone = new HashSet<>();
    for (String node : registered) {
      if (!members.contains(node)
          && nowMillis - strangers.computeIfAbsent(node, first -> nowMillis) >= PATIENCE_MILLIS) {
        gone.add(node);
      }
    }
    return gone;
  }
}
