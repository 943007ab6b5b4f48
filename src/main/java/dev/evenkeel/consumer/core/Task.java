package dev.evenkeel.consumer.core;

import dev.evenkeel.consumer.Delivery;
import dev.evenkeel.model.Message;

/** A message on its way through a handler, with all its tries. */
public final class Task implements MessageSource.Handed {
  final Hold hold;
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

  /** The lane of its key, or null. */
  KeyLanes.Lane lane;

  Task(Hold hold, long offset, Message message, int bytes) {
    this.hold = hold;
    this.offset = offset;
    this.message = message;
    this.bytes = bytes;
  }

  @Override
  public Delivery delivery(String member) {
    return new Delivery(
        hold.topic, hold.shard.shard(), offset, message, member, hold.epoch, attempt);
  }
}
