package dev.evenkeel.bus;

/** Event-bus addresses. Those under {@code evenkeel.api} are for anybody; the others are ours. */
public final class Addresses {
  private Addresses() {}

  /** Any broker answers with a {@link ClusterView} as JSON text. */
  public static final String VIEW = "evenkeel.view";

  /** Brokers publish lease changes here, as {@link LeaseChange} JSON; the dispatcher listens. */
  public static final String LEASE_CHANGES = "evenkeel.leases";

  /** Brokers publish here when topics change, with an empty body; whoever caches them re-reads. */
  public static final String TOPIC_CHANGES = "evenkeel.topics.changed";

  /**
   * Brokers publish here who leads, as {@link LeaderChange.News} JSON: each when it begins to lead
   * a log group, and from time to time all that it knows.
   */
  public static final String LEADER_CHANGES = "evenkeel.leaders";

  public static final String API_PRODUCE = "evenkeel.api.produce";
  public static final String API_TOPICS = "evenkeel.api.topics";
  public static final String API_MESSAGES = "evenkeel.api.messages";
  public static final String API_GROUPS = "evenkeel.api.groups";
  public static final String API_CLUSTER = "evenkeel.api.cluster";

  /** Who answers at an address, for people. */
  public static String who(String address) {
    String[] parts = address.split("\\.");
    if (address.startsWith("evenkeel.node.") && parts.length > 3) {
      return "node " + address.substring("evenkeel.node.".length(), address.lastIndexOf('.'));
    }
    if (address.startsWith("evenkeel.member.")) {
      return "the member";
    }
    return address.startsWith("evenkeel.api.") ? "the gateway" : "every broker";
  }

  /** Appends and fetches to the broker of a node. */
  public static String data(String node) {
    return "evenkeel.node." + node + ".data";
  }

  /** Everything else to the broker of a node, so that it never waits behind data. */
  public static String control(String node) {
    return "evenkeel.node." + node + ".control";
  }

  /** {@link Heartbeat} to the dispatcher of a node, answered by {@link Assignment}. */
  public static String dispatcher(String node) {
    return "evenkeel.node." + node + ".dispatcher";
  }

  /**
   * Questions about groups to the dispatcher of a node: {@code {"group": name or absent}}, {@code
   * {"rebalances": group or null}} or {@code {"live": revision of the moves known, or null}}.
   */
  public static String groups(String node) {
    return "evenkeel.node." + node + ".groups";
  }

  /**
   * Questions about a node's place in the cluster, JSON text with an {@code action}: {@code card},
   * {@code join}, {@code removeVoters}, {@code addVoter}, {@code replace}, {@code replacement}. The
   * answer is a frame of {@link Frames} with JSON text.
   */
  public static String membership(String node) {
    return "evenkeel.node." + node + ".membership";
  }

  /** The level dispatchers of a node: {@code level.Report}s of members. */
  public static String dealer(String node) {
    return "evenkeel.node." + node + ".dealer";
  }

  /** One run of a member in mode level: {@code level.SessionStart} and {@code level.HandOut}. */
  public static String level(String instance) {
    return "evenkeel.member." + instance + ".level";
  }

  /** The dispatcher pushes an {@link Assignment} to one run of a member. */
  public static String member(String instance) {
    return "evenkeel.member." + instance;
  }
}
