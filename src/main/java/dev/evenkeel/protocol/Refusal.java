package dev.evenkeel.protocol;

/**
 * Why a request was refused. The order is part of the wire format: append only.
 *
 * <p>{@link #retriable()} tells whether the same request may succeed later without a change.
 */
public enum Refusal {
  /** The request is malformed or breaks a rule; the detail says which. */
  INVALID(false),
  /** This node does not lead the log group; the detail is the leader's node id, if known. */
  NOT_LEADER(true),
  /** It is unknown whether the request took effect; repeating it with the same sequence is safe. */
  INDETERMINATE(true),
  /** The epoch named is not the lease's, or the lease has no owner. */
  FENCED(false),
  /** There is no topic with this name. */
  UNKNOWN_TOPIC(false),
  /** The topic has fewer shards, or was deleted. */
  UNKNOWN_SHARD(false),
  /** There is no group with this name. */
  UNKNOWN_GROUP(false),
  /** The topic to be created exists. */
  TOPIC_EXISTS(false),
  /** Payload, key, headers, state or batch over its limit. */
  TOO_LARGE(false),
  /** A checksum does not match. */
  CORRUPT(false),
  /** A frame or batch of a version that this node does not speak. */
  WRONG_VERSION(false),
  /** Free disk space is below the limit; fetches and commits go on. */
  DISK_FULL(true),
  /** Too much is pending; try again after a pause. */
  OVERLOADED(true),
  /** A batch's first sequence is ahead of the next expected one, which the answer names. */
  SEQUENCE_GAP(true),
  /** The log does not remember this producer; it must open a new epoch. */
  UNKNOWN_PRODUCER(false),
  /** A later epoch of this producer exists. */
  PRODUCER_FENCED(false),
  /** The offset lies before the first kept or after the next message. */
  OFFSET_OUT_OF_RANGE(false),
  /** Another member with the same name has taken this one's place. */
  MEMBER_REPLACED(false),
  /** The member's mode or settings differ from those its group runs with. */
  GROUP_MISMATCH(false),
  /** The node is starting, stopping, or has no majority. */
  UNAVAILABLE(true),
  /** The group has live members, which forbids the request. */
  GROUP_ACTIVE(false),
  /**
   * The message is in the log, committed by a majority, but was not known to be on every replica in
   * time; the detail names the nodes that are missing.
   */
  REPLICAS_MISSING(false),
  /** A bug: the node could not decide about the request. Nothing changed. */
  INTERNAL(false);

  private static final Refusal[] VALUES = values();

  private final boolean retriable;

  Refusal(boolean retriable) {
    this.retriable = retriable;
  }

  /** Whether the same request may succeed later without a change. */
  public boolean retriable() {
    return retriable;
  }

  /** What is wrong and what to do, for a person, where nothing more is known. */
  public String usualWords() {
    return switch (this) {
      case INVALID -> "the request breaks a rule that the node did not name: see the node's log";
      case NOT_LEADER -> "the log group has no leader at the moment: try again";
      case INDETERMINATE ->
          "no answer: whether it happened is not known, so look before you repeat it";
      case FENCED -> "another owner has the shard since: give up what was begun";
      case UNKNOWN_TOPIC -> "there is no such topic: create it, or correct its name";
      case UNKNOWN_SHARD -> "there is no such shard: the topic has fewer, or was deleted";
      case UNKNOWN_GROUP -> "there is no such group: correct its name";
      case TOPIC_EXISTS -> "the topic exists: choose another name";
      case TOO_LARGE -> "larger than its limit: send less at once";
      case CORRUPT ->
          "a checksum does not match: send it again, and see the node's log if it stays";
      case WRONG_VERSION -> "of a version that the node does not read: upgrade it";
      case DISK_FULL -> "the disk of the node that leads the shard is nearly full: make room on it";
      case OVERLOADED -> "too much is pending: try again after a pause";
      case SEQUENCE_GAP -> "messages that come before this one are missing: try again";
      case UNKNOWN_PRODUCER ->
          "the cluster has forgotten the producer, which was silent for too long: open a new one";
      case PRODUCER_FENCED -> "another producer has taken this one's name: give each its own";
      case OFFSET_OUT_OF_RANGE -> "the shard does not have this offset: choose one that it has";
      case MEMBER_REPLACED -> "another member has taken this one's name: give each its own";
      case GROUP_MISMATCH -> "the group runs with other settings: use the same";
      case UNAVAILABLE -> "the node is starting, stopping, or has no majority: try again";
      case GROUP_ACTIVE -> "the group has live members: stop them first";
      case REPLICAS_MISSING -> "committed, but not on every replica in time";
      case INTERNAL -> "a bug: the node could not decide, and changed nothing; see its log";
    };
  }

  /** The refusal with this wire code, or {@link #INVALID} for one that a newer node sent. */
  public static Refusal ofCode(int code) {
    return code >= 0 && code < VALUES.length ? VALUES[code] : INVALID;
  }
}
