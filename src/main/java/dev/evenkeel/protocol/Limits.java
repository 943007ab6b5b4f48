package dev.evenkeel.protocol;

/** Limits that both sides of a connection must agree on. What a user may tune is configuration. */
public final class Limits {
  private Limits() {}

  /** Largest payload of one message. */
  public static final int PAYLOAD_BYTES_MAX = 1 << 20;

  /** Largest key of one message. */
  public static final int KEY_BYTES_MAX = 32 << 10;

  /** Largest sum of header names and values of one message. */
  public static final int HEADERS_BYTES_MAX = 32 << 10;

  /** Most headers of one message. */
  public static final int HEADERS_MAX = 64;

  /** Largest batch: one message at all its limits, or many small ones. */
  public static final int BATCH_BYTES_MAX =
      PAYLOAD_BYTES_MAX + KEY_BYTES_MAX + HEADERS_BYTES_MAX + 1024;

  /** Most messages of one batch. */
  public static final int BATCH_MESSAGES_MAX = 65_535;

  /** Largest entry of a log group: what joined batches may add up to. */
  public static final int ENTRY_BYTES_MAX = 3 << 20;

  /** Most bytes of the compressed batches of one append request when they are unpacked: 64 MiB. */
  public static final int APPEND_UNPACKED_BYTES_MAX = 64 << 20;

  /** Largest state of a shard. */
  public static final int STATE_BYTES_MAX = 1 << 20;

  /**
   * Most topics of a cluster, and of a group: no topic that somebody creates is too many for a
   * group that reads all.
   */
  public static final int TOPICS_MAX = 20_000;

  /** Most shards of one topic. */
  public static final int SHARDS_MAX = 10_000;

  /** Numbers of shards of a topic are below this: those of sealed shards are not used again. */
  public static final int SHARD_NUMBERS_MAX = 1 << 20;

  /** Silence after which a member counts as dead, if it asks for nothing else. */
  public static final long MEMBER_TIMEOUT_MILLIS_DEFAULT = 5_000;

  /** The longest that a member may ask for. */
  public static final long MEMBER_TIMEOUT_MILLIS_MAX = 600_000;

  /** Longest name of a topic, group, member, producer or node. */
  public static final int NAME_CHARS_MAX = 120;

  /** Longest token that says who somebody is. */
  public static final int TOKEN_CHARS_MAX = 12 << 10;

  /** Batches of one producer and shard whose first result the log remembers. */
  public static final int BATCHES_REMEMBERED = 8;

  /** Largest answer to one fetch, unless a single batch is larger. */
  public static final int FETCH_BYTES_MAX = 1 << 20;

  /** Longest wait of one fetch. */
  public static final int FETCH_WAIT_MILLIS_MAX = 15_000;

  /** Longest wait of one request for an entry to be on every replica. */
  public static final int REPLICAS_WAIT_MILLIS_MAX = 15_000;

  /** Longest step of active time; see {@link MetaCommand.AddActiveTime}. */
  public static final long ACTIVE_STEP_MILLIS_MAX = 120_000;

  /** Moves that the rebalance history holds, of all groups together; see {@link MoveShares}. */
  public static final int MOVES_KEPT_MAX = 2_000;

  /** Most moves that one command records. */
  public static final int MOVES_A_COMMAND_MAX = 500;

  /** Messages of a group and shard that wait for another attempt, parked ones included. */
  public static final int RETRIES_MAX = 10_000;

  /** Bytes of those messages: 256 MiB. */
  public static final long RETRY_BYTES_MAX = 256L << 20;

  /** Dead letters of a group and shard. */
  public static final int DEAD_LETTERS_MAX = 100_000;

  /** Most outcomes, or offsets of dead letters, that one command names. */
  public static final int OUTCOMES_A_COMMAND_MAX = 1_000;

  /** Most shards that one FETCH_MANY names. */
  public static final int FETCHES_A_REQUEST_MAX = 64;

  /** Most bytes of batches in one answer to FETCH_MANY, unless a single batch has more: 2 MiB. */
  public static final int FETCH_MANY_BYTES_MAX = 2 << 20;

  /** Most positions that one command commits. */
  public static final int COMMITS_A_COMMAND_MAX = 5_000;

  /** Most steps of shards that one command takes. */
  public static final int STEPS_A_COMMAND_MAX = 1_000;

  /** Longest delay of a message: 30 days. */
  public static final long DELAY_MILLIS_MAX = 30L * 24 * 3600 * 1000;

  /** Delayed messages of a shard that are not due yet. */
  public static final long DELAYED_MESSAGES_MAX = 10_000_000;

  /** Bytes of the batches of those messages: 8 GiB. */
  public static final long DELAYED_BYTES_MAX = 8L << 30;

  /** Most messages that the handler of one message may publish to one shard. */
  public static final int OUTPUTS_OF_A_MESSAGE_MAX = 65_534;

  /** Group and shard pairs whose handlers publish, in one log group. */
  public static final int PUBLISHERS_MAX = 100_000;

  /** Most names of producers that one command is about. */
  public static final int PRODUCERS_A_COMMAND_MAX = 1_000;

  /** Longest text of an error that is kept. */
  public static final int ERROR_CHARS_MAX = 1_000;

  /** Most pauses between the attempts of a message. */
  public static final int RETRY_DELAYS_MAX = 100;

  /** Longest of those pauses: 7 days. */
  public static final long RETRY_DELAY_MILLIS_MAX = 7L * 24 * 3600 * 1000;

  /** Mode level: time after which a member that holds the others up is set aside. */
  public static final long STALL_TIMEOUT_MILLIS_DEFAULT = 10_000;

  /** Shortest member timeout of a track. */
  public static final long TRACK_TIMEOUT_MILLIS_MIN = 2_000;

  /**
   * Longest member timeout of a track. So a new dispatcher knows, after this time, that no track is
   * left that it has not heard.
   */
  public static final long TRACK_TIMEOUT_MILLIS_MAX = 10_000;

  /** After so many deaths of its consumers a message becomes a dead letter. */
  public static final int CRASHES_MAX_DEFAULT = 5;

  /** Least that consumers may ask for instead, apart from 0, which means never. */
  public static final int CRASHES_MAX_LEAST = 3;

  /** Most that consumers may ask for instead. */
  public static final int CRASHES_MAX_MOST = 1_000;
}
