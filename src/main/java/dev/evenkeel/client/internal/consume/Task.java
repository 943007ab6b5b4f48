package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.Delivery;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;

/** A message on its way through a handler, with all its tries. */
public final class Task implements MessageSource.Handed {
  final OwnedShard hold;
  final long offset;
  final Message message;

  /** Its share of the batch that it came in, for the pending limit. */
  final int bytes;

  /** 1 for the first try. */
  int attempt = 1;

  /** While it waits for its next try: when that is due, in monotonic milliseconds. */
  long dueMillis;

  /** Its place at a {@link DedupGate}, or null. */
  DedupGate.Pass pass;

  /** Where it waits at a {@link RateGate}, or null. */
  KeyBuckets.Bucket bucket;

  /** Whoever holds it wants to know what comes to wait behind it. */
  boolean watched;

  /** The lane of its key in the window, or null. */
  KeyQueues.Lane lane;

  /** It came back from the log, and has no place in the window. */
  final boolean retry;

  /** What the log knows its key by; {@link Outcome#NO_LANE}: not computed, or it has none. */
  long laneHash;

  /** It waited in {@link StuckQueues}. */
  boolean stuck;

  /** Of its last attempt, or null. */
  Effects effects;

  /** Why no handler can have it, or null: its bytes are no message. */
  RefusedException unreadable;

  Task(OwnedShard hold, long offset, Message message, int bytes) {
    this(hold, offset, message, bytes, false);
  }

  Task(OwnedShard hold, long offset, Message message, int bytes, boolean retry) {
    this.retry = retry;
    this.hold = hold;
    this.offset = offset;
    this.message = message;
    this.bytes = bytes;
  }

  /**
   * A message that cannot be read.
   *
   * @param bytes what is known of it, kept as its payload
   */
  static Task unreadable(
      OwnedShard hold, long offset, byte[] bytes, int share, boolean retry, RefusedException why) {
    Task task = new Task(hold, offset, new Message(null, null, 0, bytes), share, retry);
    task.unreadable =
        new RefusedException(
            Refusal.CORRUPT,
            "the message cannot be read (" + why.getMessage() + "), so no handler got it");
    return task;
  }

  /** An attempt begins whose handler may publish: what the one before wanted is forgotten. */
  public Effects newEffects() {
    effects = new Effects();
    return effects;
  }

  /** The number of its shard. */
  public int shard() {
    return hold.shard.shard();
  }

  boolean publishes() {
    return effects != null && effects.publishes();
  }

  @Override
  public Delivery delivery(String member) {
    return new Delivery(
        hold.topic, hold.shard.shard(), offset, message, member, hold.epoch, attempt);
  }
}
