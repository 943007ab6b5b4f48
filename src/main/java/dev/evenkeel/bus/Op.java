package dev.evenkeel.bus;

/**
 * Operations of a broker. Their order is part of the wire format: add new ones at the end. {@link
 * Calls} has the questions and answers of those at the control address.
 */
public enum Op {
  /** Data. Body: {@code wire.AppendBody}. Answer: {@code wire.AppendResults}. */
  APPEND(At.DATA, Who.CLIENTS, false),
  /**
   * Data. Body: {@link FetchRequest}. Answer: {@link FetchAnswer}. Waits if there is no message
   * yet.
   */
  FETCH(At.DATA, Who.CLIENTS, false),
  SUBMIT_DATA(At.CONTROL, Who.CLIENTS, false),
  SUBMIT_META(At.CONTROL, Who.CLIENTS, false),
  READ_LEASE(At.CONTROL, Who.CLIENTS, true),
  READ_SHARDS(At.CONTROL, Who.MEMBERS, true),
  /**
   * Body: {@link FetchRequest} without group: reads a shard without owning it. To the control
   * address, or, by consumers in mode broadcast, which wait for messages, to the data address.
   */
  BROWSE(At.BOTH, Who.CLIENTS, true),
  FIND_OFFSET(At.CONTROL, Who.CLIENTS, true),
  CREATE_TOPIC(At.CONTROL, Who.MEMBERS, false),
  CONFIGURE_TOPIC(At.CONTROL, Who.MEMBERS, false),
  DELETE_TOPIC(At.CONTROL, Who.MEMBERS, false),
  READ_GROUPS(At.CONTROL, Who.MEMBERS, true),
  MANAGE_SHARDS(At.CONTROL, Who.NODES, false),
  READ_LOGS(At.CONTROL, Who.NODES, true),
  READ_MOVES(At.CONTROL, Who.MEMBERS, true),
  /** To a member. Body: {@code level.SessionStart}. Answer: {@code level.SessionState}. */
  LEVEL_START(At.ELSEWHERE, Who.MEMBERS, false),
  /** To a member. Body: {@code level.HandOut}. Answer: i64 messages received. */
  LEVEL_HAND_OUT(At.ELSEWHERE, Who.MEMBERS, false),
  /** To a level dispatcher. Body: {@code level.Report}. Answer: {@code level.StartPermission}. */
  LEVEL_REPORT(At.ELSEWHERE, Who.MEMBERS, false),
  READ_GROUP_LEASES(At.CONTROL, Who.MEMBERS, true),
  FETCH_RETRIES(At.CONTROL, Who.CLIENTS, false),
  READ_DEAD_LETTERS(At.CONTROL, Who.MEMBERS, true),
  READ_FAILURES(At.CONTROL, Who.MEMBERS, true),
  /**
   * Data. Body: {@link ReplicasRequest}. Answer: {@link ReplicasAnswer}, once every voter has the
   * entry on its disk or the time is up. To the leader of the data group.
   */
  AWAIT_REPLICAS(At.DATA, Who.CLIENTS, false),
  READ_BYTES(At.CONTROL, Who.MEMBERS, true),
  READ_BODY(At.CONTROL, Who.NODES, false),
  /**
   * Data. Body: {@link FetchManyRequest}. Answer: {@link FetchManyAnswer}. Waits until there is
   * something for one of the shards.
   */
  FETCH_MANY(At.DATA, Who.CLIENTS, false),
  RESHARD_TOPIC(At.CONTROL, Who.MEMBERS, false),
  READ_DELAYED(At.CONTROL, Who.MEMBERS, true),
  CANCEL_DELAYED(At.CONTROL, Who.MEMBERS, false),
  RESERVE(At.CONTROL, Who.CLIENTS, false),
  READ_QUOTAS(At.CONTROL, Who.MEMBERS, true),
  READ_RETRIES(At.CONTROL, Who.MEMBERS, true),
  /**
   * Data. Between brokers. Body and answer: as APPEND; delayed batches that a reshard moves. It
   * spends no quota: the messages were paid for when they were sent.
   */
  MOVE_DELAYED(At.DATA, Who.NODES, false),
  FIND_MOVED(At.CONTROL, Who.MEMBERS, true),
  READ_SHARES(At.CONTROL, Who.MEMBERS, true),
  READ_USERS(At.CONTROL, Who.MEMBERS, true),
  READ_PRODUCERS(At.CONTROL, Who.NODES, true);

  /** The address of a broker at which it is answered. */
  private enum At {
    DATA,
    CONTROL,
    /** By consumers in mode broadcast, which wait for messages, to the data address. */
    BOTH,
    /** Not by a broker. */
    ELSEWHERE
  }

  /** Who may ask for it. */
  private enum Who {
    /** Clients over a session, too. */
    CLIENTS,
    /** Members of the cluster: nodes, and applications on its event bus. */
    MEMBERS,
    NODES
  }

  private static final Op[] VALUES = values();

  private final At at;
  private final Who who;
  private final boolean onlyAsks;

  Op(At at, Who who, boolean onlyAsks) {
    this.at = at;
    this.who = who;
    this.onlyAsks = onlyAsks;
  }

  /**
   * Whether a client may ask for it over a session.
   *
   * @param control whether at the control address, or else at the data address
   */
  public boolean ofClients(boolean control) {
    return who == Who.CLIENTS && (at == At.BOTH || at == (control ? At.CONTROL : At.DATA));
  }

  /** Whether it changes nothing, so that it may be repeated. */
  public boolean onlyAsks() {
    return onlyAsks;
  }

  public static Op ofCode(int code) {
    return code >= 0 && code < VALUES.length ? VALUES[code] : null;
  }
}
