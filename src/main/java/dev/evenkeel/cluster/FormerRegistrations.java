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
 * Takes away what the event bus still knows of members that have gone. Vert.x does so when a member
 * goes, but once: if the maps have no owners at that moment, or a part of the cluster in which the
 * member was alive joins later and brings its maps, it stays for ever. Then requests to an address
 * at which a client listens again go in turn to the client and to nobody.
 *
 * <p>The first member that holds data looks after it. Times are of a clock that does not go back.
 */
final class FormerRegistrations {
  /** How often it looks: a request for all registrations to the members that hold data. */
  static final long LOOK_MILLIS = 2_000;

  /** How long a member may be unknown here: who has just joined registers before all have heard. */
  static final long PATIENCE_MILLIS = 5_000;

  /** Where vertx-hazelcast keeps a member's Vert.x node id. */
  static final String NODE_ID_ATTRIBUTE = "__vertx.nodeId";

  /** Where it keeps who listens at which address. */
  static final String REGISTRATIONS = "__vertx.subs";

  /** Where it keeps at which port a Vert.x node takes connections. */
  static final String NODES = "__vertx.nodeInfo";

  private static final Logger LOG = LoggerFactory.getLogger(FormerRegistrations.class);

  private final HazelcastInstance hazelcast;

  /**
   * Since when nodes have been registered that are not members; only the look under way uses it.
   */
  private final Map<String, Long> strangers = new HashMap<>();

  private boolean looking;

  FormerRegistrations(HazelcastInstance hazelcast) {
    this.hazelcast = hazelcast;
  }

  /** Looks from now on, one look at a time. */
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

  /** Waits for the maps. Fails while they are out of reach: the next look comes. */
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
      LOG.info("the event bus knew of members that have gone: {}", gone);
    }
    return null;
  }

  /**
   * Who has been registered for {@link #PATIENCE_MILLIS} without being a member.
   *
   * @param strangers since when each has been; is brought up to date
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
