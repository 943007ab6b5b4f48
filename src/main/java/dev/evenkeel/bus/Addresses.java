package dev.evenkeel.bus;

import java.util.Set;

/**
 * Addresses on the event bus. Applications may use those under {@code evenkeel.api}; the others are
 * internal.
 */
public final class Addresses {
  private static final String NODE = "evenkeel.node.";

  private Addresses() {}

  /**
   * A request for the view of the cluster: any broker answers with a {@link ClusterView} as JSON
   * text.
   */
  public static final String VIEW = "evenkeel.view";

  /** Brokers publish lease changes here, as {@link LeaseChange} JSON; the dispatcher listens. */
  public static final String LEASE_CHANGES = "evenkeel.leases";

  /**
   * Brokers publish an empty body here when topics change, so that caches of topics are read again.
   */
  public static final String TOPIC_CHANGES = "evenkeel.topics.changed";

  /**
   * Gateways publish an empty body here when somebody has changed something by the API, so that
   * live views show it at once.
   */
  public static final String ADMIN_CHANGES = "evenkeel.admin.changed";

  /**
   * Brokers publish here who leads log groups, as {@link LeaderChange.News} JSON. A broker does so
   * when it begins to lead a log group, and from time to time for all log groups.
   */
  public static final String LEADER_CHANGES = "evenkeel.leaders";

  /**
   * Nodes publish here, as JSON {@code {"session": id, "node": node}}, that a client has closed the
   * last connection of a session to that node; the dispatcher listens.
   */
  public static final String SESSIONS_ENDED = "evenkeel.sessions.ended";

  /**
   * Tells brokers that a connection has ended which may have fetches that wait. The body is its
   * name, see {@link Frames#CONNECTION}.
   */
  public static final String CONNECTIONS_ENDED = "evenkeel.connections.ended";

  /**
   * Each node takes dedup steps of its sessions here, from programs of this node only. A request is
   * a {@code text} with the session and what {@code SharedCodec.steps} writes. The answer is a
   * frame (see {@link Frames}) with the cluster's time and what {@code SharedCodec.replies} writes.
   */
  public static final String DEDUP_STEPS = "evenkeel.dedup.steps";

  /**
   * As {@link #DEDUP_STEPS}, for steps of a dedup by name: behind the session there is a {@code
   * text} with that name. If a step changes who works on a key, the node tells that process.
   * Answers say of claims of other sessions only since when they work.
   */
  public static final String DEDUP_CLAIMS = "evenkeel.dedup.claims";

  /**
   * Each node passes on here what a session tells the process of a claim. A request is a {@code
   * text} with the name of that process and a {@code HeadMessage}.
   */
  public static final String DEDUP_TELL = "evenkeel.dedup.tell";

  /**
   * Each node tells a session here whether the cluster still counts it as alive: it answers only
   * after a majority of the nodes has said that this node is a member. A request is a {@code text}
   * with the session and another one with the name of a dedup that the session uses, or an empty
   * one. It refuses a name with WRONG_VERSION if not all nodes know such dedups. It does not count
   * as a request in flight. The answer is an empty frame.
   */
  public static final String DEDUP_HEARD = "evenkeel.dedup.heard";

  /** What is published there is for every node. */
  public static final Set<String> EVERY_NODE =
      Set.of(
          LEASE_CHANGES,
          TOPIC_CHANGES,
          ADMIN_CHANGES,
          LEADER_CHANGES,
          SESSIONS_ENDED,
          CONNECTIONS_ENDED);

  /** Says in words who answers at an address. */
  public static String who(String address) {
    String node = nodeOf(address);
    if (node != null) {
      return "node " + node;
    }
    if (address.startsWith("evenkeel.member.")) {
      return "the member";
    }
    if (address.startsWith("evenkeel.dedup.")) {
      return "the node's service for dedup keys";
    }
    return address.startsWith("evenkeel.api.") ? "the gateway" : "every broker";
  }

  /** Id of the node that an address belongs to, or null if it belongs to none. */
  public static String nodeOf(String address) {
    int end = address.lastIndexOf('.');
    return address.startsWith(NODE) && end > NODE.length()
        ? address.substring(NODE.length(), end)
        : null;
  }

  /** All addresses that belong to a node. */
  public static Set<String> ofNode(String node) {
    return Set.of(
        data(node),
        control(node),
        dispatcher(node),
        groups(node),
        membership(node),
        sessions(node),
        logins(node),
        relay(node),
        levelDispatcher(node));
  }

  /** The broker of a node takes appends and fetches here. */
  public static String data(String node) {
    return NODE + node + ".data";
  }

  /** The broker of a node takes all other requests here, so that they never wait behind data. */
  public static String control(String node) {
    return NODE + node + ".control";
  }

  /**
   * The dispatcher of a node takes a {@link Heartbeat} here and answers with an {@link Assignment}.
   */
  public static String dispatcher(String node) {
    return NODE + node + ".dispatcher";
  }

  /**
   * The dispatcher of a node answers questions about groups here: {@code {"group": name or
   * absent}}, {@code {"rebalances": group or null}} or {@code {"live": revision of the moves known,
   * or null}}.
   */
  public static String groups(String node) {
    return NODE + node + ".groups";
  }

  /**
   * A node answers requests about cluster membership here. A request is JSON text with an {@code
   * action}: {@code card}, {@code join}, {@code removeVoters}, {@code addVoter}, {@code replace},
   * {@code replacement}. The answer is a frame (see {@link Frames}) with JSON text. Nodes also copy
   * snapshots here, by {@code snapshotFiles} and {@code snapshotRead}, whose answers are bytes.
   */
  public static String membership(String node) {
    return NODE + node + ".membership";
  }

  /**
   * A node says here whether it has a connection of a session: {@code {"has": id}} is answered by a
   * frame (see {@link Frames}) with {@code {"has": true or false}}.
   */
  public static String sessions(String node) {
    return NODE + node + ".sessions";
  }

  /**
   * A node says here who has logged in with a browser: {@code {"of": id}} is answered by the user
   * and its permissions, or by an empty object. {@code {"ends": id}} ends a log-in.
   */
  public static String logins(String node) {
    return NODE + node + ".logins";
  }

  /** A node passes requests on here to members that listen at it. See {@link Relay}. */
  public static String relay(String node) {
    return NODE + node + ".relay";
  }

  /** The level dispatchers of a node take the {@code level.Report}s of members here. */
  public static String levelDispatcher(String node) {
    return NODE + node + ".dealer";
  }

  /**
   * One run of a member in mode level takes {@code level.SessionStart} and {@code level.HandOut}
   * here.
   */
  public static String level(String instance) {
    return "evenkeel.member." + instance + ".level";
  }

  /**
   * A process takes each {@code HeadMessage} about its claims here.
   *
   * @param member id of its cluster member or of its session
   */
  public static String dedup(String member) {
    return "evenkeel.dedup." + member;
  }

  /**
   * Where a gateway answers for the sessions that it has opened.
   *
   * @param gateway unique for ever
   */
  public static String gateway(String gateway) {
    return "evenkeel.gateway." + gateway;
  }

  /** One run of a member takes each {@link Assignment} that the dispatcher pushes here. */
  public static String member(String instance) {
    return "evenkeel.member." + instance;
  }
}
