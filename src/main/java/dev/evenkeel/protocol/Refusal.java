package dev.evenkeel.protocol;

import org.jspecify.annotations.Nullable;

/**
 * Why a request was refused. The order is part of the wire format: append only.
 *
 * <p>{@link #retriable()} tells whether the same request may succeed later without a change.
 */
public enum Refusal {
  /** The request is malformed or breaks a rule; the detail says which. */
  INVALID(false, "the request is invalid and the node did not say why: see the node's log"),
  /** This node does not lead the log group; the detail is the leader's node id, if known. */
  NOT_LEADER(true, "the log group has no leader at the moment: try again"),
  /** It is unknown whether the request took effect; repeating it with the same sequence is safe. */
  INDETERMINATE(
      true,
      "no answer came in time, so the request may have taken effect: check before you repeat it"),
  /** The epoch named is not the lease's, or the lease has no owner. */
  FENCED(false, "the shard has a new owner: stop work on it"),
  /** There is no topic with this name. */
  UNKNOWN_TOPIC(false, "there is no such topic: create it, or correct its name"),
  /** The topic has fewer shards, or was deleted. */
  UNKNOWN_SHARD(false, "there is no such shard: the topic has fewer, or was deleted"),
  /** There is no group with this name. */
  UNKNOWN_GROUP(false, "there is no such group: correct its name"),
  /** The topic to be created exists. */
  TOPIC_EXISTS(false, "the topic exists: choose another name"),
  /** Payload, key, headers, state or batch over its limit. */
  TOO_LARGE(false, "a part of the request is over its size limit: send less at once"),
  /** A checksum does not match. */
  CORRUPT(
      false,
      "a checksum does not match: send the data again; if that fails too, see the node's log"),
  /** A frame or batch of a version that this node does not speak. */
  WRONG_VERSION(false, "the node does not support this format version: upgrade the node"),
  /** Free disk space is below the limit; fetches and commits go on. */
  DISK_FULL(true, "the disk of the node that leads the shard is nearly full: make room on it"),
  /** Too much is pending; try again after a pause. */
  OVERLOADED(true, "too many requests are pending: try again after a pause"),
  /** A batch's first sequence is ahead of the next expected one, which the answer names. */
  SEQUENCE_GAP(true, "earlier messages of this producer are missing: try again"),
  /** The log does not remember this producer; it must open a new epoch. */
  UNKNOWN_PRODUCER(
      false,
      "the producer was silent for too long and the cluster has forgotten it: open a new one"),
  /** A later epoch of this producer exists. */
  PRODUCER_FENCED(false, "a newer producer uses this name: give each producer a name of its own"),
  /** The offset lies before the first kept or after the next message. */
  OFFSET_OUT_OF_RANGE(false, "the shard does not contain this offset: choose another one"),
  /** Another member with the same name has taken this one's place. */
  MEMBER_REPLACED(false, "a newer member uses this name: give each member a name of its own"),
  /** The member's mode or settings differ from those its group runs with. */
  GROUP_MISMATCH(false, "the group uses other settings: use the same"),
  /** The node is starting, stopping, or has no majority. */
  UNAVAILABLE(true, "the node is starting, stopping, or has no majority: try again"),
  /** The group has live members, which forbids the request. */
  GROUP_ACTIVE(false, "the group has live members: stop them first"),
  /**
   * The message is in the log, committed by a majority, but was not known to be on every replica in
   * time; the detail names the nodes that are missing.
   */
  REPLICAS_MISSING(false, "the message is committed, but not every replica had it in time"),
  /** A bug: the node could not decide about the request. Nothing changed. */
  INTERNAL(false, "a bug in the node: it could not decide and changed nothing; see its log"),
  /** The cluster has users, and the request comes from none of them. */
  UNAUTHENTICATED(false, "the cluster has users: show a token or a certificate of one"),
  /** The user may not do this. */
  FORBIDDEN(false, "a permission is missing: ask the cluster's administrator for it"),
  /** The topic has other shards now, and this one takes no more messages. */
  SEALED(false, "the topic has other shards now: send the message to one of those"),
  /**
   * There is no such session of a consumer over HTTP, or no such candidate: it has ended, or never
   * was.
   */
  UNKNOWN_SESSION(false, "there is no such session: it has ended, open another one"),
  /** No delayed message with this id waits: it was delivered or cancelled, or never was. */
  UNKNOWN_MESSAGE(
      false,
      "no delayed message with this id waits: it was delivered or cancelled, or never was; list "
          + "the delayed messages of the topic");

  private static final Refusal[] VALUES = values();

  private final boolean retriable;
  private final String usualWords;

  Refusal(boolean retriable, String usualWords) {
    this.retriable = retriable;
    this.usualWords = usualWords;
  }

  /**
   * The error of a request that is refused for this reason.
   *
   * @param detail what is wrong, with the value, and what would be right
   */
  public RefusedException error(@Nullable String detail) {
    return new RefusedException(this, detail);
  }

  /**
   * @param format as {@link String#format} takes it
   */
  public RefusedException error(String format, @Nullable Object... values) {
    return new RefusedException(this, format, values);
  }

  /** Whether the same request may succeed later without a change. */
  public boolean retriable() {
    return retriable;
  }

  /** What is wrong and what to do, for a person, where nothing more is known. */
  public String usualWords() {
    return usualWords;
  }

  /** The refusal with this wire code, or {@link #INVALID} for one that a newer node sent. */
  public static Refusal ofCode(int code) {
    return code >= 0 && code < VALUES.length ? VALUES[code] : INVALID;
  }
}
