package dev.evenkeel.bus;

/** Operations of a broker. Their order is part of the wire format: add new ones at the end. */
public enum Op {
  /** Data. Body: {@code wire.AppendBody}. Answer: {@code wire.AppendResults}. */
  APPEND,
  /**
   * Data. Body: {@link FetchRequest}. Answer: {@link FetchAnswer}. Waits if there is no message
   * yet.
   */
  FETCH,
  /** Body: i32 data group, command. Answer: {@code wire.ReplyCodec}. */
  SUBMIT_DATA,
  /** Body: command. Answer: {@code wire.ReplyCodec}. To the leader of the meta group. */
  SUBMIT_META,
  /** Body: text group, shard. Answer: Reply.OfLease with its state. To the shard's leader. */
  READ_LEASE,
  /** Body: i32 data group, text group or null for all. Answer: {@link ShardStatus} list. */
  READ_SHARDS,
  /**
   * Body: {@link FetchRequest} without group: reads a shard without owning it. To the control
   * address, or, by consumers in mode broadcast, which wait for messages, to the data address.
   */
  BROWSE,
  /** Body: shard, StartAt. Answer: i64 offset. To the shard's leader. */
  FIND_OFFSET,
  /**
   * Body: text name, i32 shards, topic config. Creates a topic in all log groups. Answer:
   * Reply.OfTopic (ACTIVE). To the leader of the meta group.
   */
  CREATE_TOPIC,
  /** Body: text name, topic config. Answer: Reply.OfTopic. To the leader of the meta group. */
  CONFIGURE_TOPIC,
  /** Body: text name. Answer: Reply.Done once unknown. To the leader of the meta group. */
  DELETE_TOPIC,
  /** No body. Answer: i32 count, then {@code RecordCodec} groups. To the leader of meta. */
  READ_GROUPS,
  /**
   * Between brokers. Body: i32 data group, command that opens, configures or drops shards. Answer:
   * {@code wire.ReplyCodec}. To the leader of the data group.
   */
  MANAGE_SHARDS,
  /** No body. Answer: {@link NodeLogs}. To any broker, about its own logs. */
  READ_LOGS,
  /**
   * No body. Answer: {@code RecordCodec} moves, oldest first: the rebalance history. To the leader
   * of meta.
   */
  READ_MOVES,
  /** To a member. Body: {@code level.SessionStart}. Answer: {@code level.SessionState}. */
  LEVEL_START,
  /** To a member. Body: {@code level.HandOut}. Answer: i64 messages received. */
  LEVEL_HAND_OUT,
  /** To a level dispatcher. Body: {@code level.Report}. Answer: {@code level.Permission}. */
  LEVEL_REPORT,
  /**
   * No body. Answer: i32 count, then {@code RecordCodec} group leases: of groups whose lease was
   * ever granted. To the leader of meta.
   */
  READ_GROUP_LEASES,
  /**
   * Body: {@code wire.RetryRequest}. Answer: {@code wire.RetryAnswer}. To the shard's leader, from
   * its owner.
   */
  FETCH_RETRIES,
  /**
   * Body: text group, shard, i64 from offset, i32 messages at most, i32 bytes at most (0: without
   * messages, which nodes of former versions answer nevertheless). Answer: {@code
   * wire.DeadLettersAnswer}. To the shard's leader.
   */
  READ_DEAD_LETTERS,
  /**
   * Body: i32 data group, text group or null for all. Answer: {@link FailureFigures} list. To the
   * leader of the data group.
   */
  READ_FAILURES,
  /**
   * Data. Body: {@link ReplicasRequest}. Answer: {@link ReplicasAnswer}, once every voter has the
   * entry on its disk or the time is up. To the leader of the data group.
   */
  AWAIT_REPLICAS,
  /**
   * Body: shard, i64 from offset, i64 to offset. Answer: i64 size of the batches from the one with
   * the first offset to the last one before the batch with the second offset. To the shard's
   * leader.
   */
  READ_BYTES,
  /**
   * Between brokers. Body: i32 data group, i64 index of a log entry. Answer: {@link BodyAnswer}. To
   * any broker, about its own copy.
   */
  READ_BODY,
  /**
   * Data. Body: {@link FetchManyRequest}. Answer: {@link FetchManyAnswer}. Waits until there is
   * something for one of the shards.
   */
  FETCH_MANY,
  /**
   * Body: text name, i32 shards. Gives a topic another number of shards. Answer: Reply.OfTopic. To
   * the leader of the meta group.
   */
  RESHARD_TOPIC,
  /**
   * Body: shard, i64 due time, i64 serial, i32 position from which to read, blob key or null for
   * any, i32 messages at most. Answer: {@code wire.DelayedAnswer}. To the shard's leader.
   */
  READ_DELAYED,
  /**
   * Body: shard, i64 due time, i64 serial, i32 position of the delayed message. Answer: {@code
   * wire.ReplyCodec}. To the shard's leader.
   */
  CANCEL_DELAYED,
  /**
   * Body: {@code rate.ReserveRequest}. Answer: {@code rate.Reservation}. To the leader of the meta
   * group, which gives out the time of all quotas.
   */
  RESERVE,
  /** No body. Answer: {@code rate.QuotaUse} list. To the leader of the meta group. */
  READ_QUOTAS,
  /**
   * Body: text group, shard, i64 from offset, i32 messages at most. Answer: {@code
   * wire.RetriesList}. To the shard's leader.
   */
  READ_RETRIES,
  /**
   * Data. Between brokers. Body and answer: as APPEND; delayed batches that a reshard moves. It
   * spends no quota: the messages were paid for when they were sent.
   */
  MOVE_DELAYED,
  /**
   * Body: i32 data group, former shard, i64 due time, i64 serial, i32 position of a delayed message
   * that a reshard moved. Answer: i32 shard in the data group that has it now, i64 serial there; -1
   * and 0 if none has. To the leader of the data group.
   */
  FIND_MOVED;

  private static final Op[] VALUES = values();

  /** Whether only nodes may ask for it. */
  public boolean betweenNodes() {
    return this == MANAGE_SHARDS || this == READ_BODY || this == READ_LOGS || this == MOVE_DELAYED;
  }

  public static Op ofCode(int code) {
    return code >= 0 && code < VALUES.length ? VALUES[code] : null;
  }
}
