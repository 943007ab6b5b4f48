package dev.evenkeel.model;

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
  UNKNOWN_TOPIC(false),
  UNKNOWN_SHARD(false),
  UNKNOWN_GROUP(false),
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

  public boolean retriable() {
    return retriable;
  }

  /** The refusal with this wire code, or {@link #INVALID} for one that a newer node sent. */
  public static Refusal ofCode(int code) {
    return code >= 0 && code < VALUES.length ? VALUES[code] : INVALID;
  }
}
