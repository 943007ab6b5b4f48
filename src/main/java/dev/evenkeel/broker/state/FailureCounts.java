package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.wire.Codec;

/**
 * Counts of a group's failures on a shard.
 *
 * @param waiting moved messages that wait for an attempt
 * @param parked moved messages that wait behind another one of their key
 * @param held messages that wait in the owner's window
 * @param dead dead letters
 * @param marks offsets above the committed one that have left the window
 * @param bytes that waiting and parked messages count for, see {@link KeptMessage}
 */
public record FailureCounts(int waiting, int parked, int held, int dead, int marks, long bytes) {
  static final Codec<FailureCounts> CODEC = Codec.record(FailureCounts.class);

  public static final FailureCounts NONE = new FailureCounts(0, 0, 0, 0, 0, 0);

  /** Whether messages that have left the owner's window are to be tried again. */
  public boolean anyMoved() {
    return waiting + parked > 0;
  }

  /** What a new owner must know before it hands out anything. */
  public int concerningOwner() {
    return waiting + parked + held + marks;
  }
}
