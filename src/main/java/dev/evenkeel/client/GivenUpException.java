package dev.evenkeel.client;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;

/**
 * INDETERMINATE: the message was sent, and given up without an answer. Whether the log took it is
 * known as soon as the producer has its next epoch: {@link Producer#epochHandler} is told the last
 * sequence that was taken of the one that was closed, and this says which place the message had.
 */
public final class GivenUpException extends RefusedException {
  private static final long serialVersionUID = 1L;

  private final int shard;
  private final int epoch;
  private final long sequence;

  public GivenUpException(int shard, int epoch, long sequence, String detail) {
    super(Refusal.INDETERMINATE, detail);
    this.shard = shard;
    this.epoch = epoch;
    this.sequence = sequence;
  }

  public int shard() {
    return shard;
  }

  /** The epoch in which it was sent. */
  public int epoch() {
    return epoch;
  }

  /** Its place among the producer's messages of the shard and epoch, from 0. */
  public long sequence() {
    return sequence;
  }

  /** Whether the log has the message. */
  public boolean takenBefore(Producer.EpochClosed closed) {
    if (closed.epoch() != epoch) {
      throw new IllegalArgumentException(
          "sent in epoch " + epoch + ", but asked of epoch " + closed.epoch());
    }
    return sequence <= closed.lastTaken(shard);
  }
}
