package dev.evenkeel.protocol.wire;

import java.util.List;

/** Messages of a shard that failed in a group and wait, by offset. For people: without messages. */
public record RetriesList(List<WaitingRetry> waiting) {
  public static final Codec<RetriesList> CODEC =
      Codec.record(RetriesList.class, Codec.list(Codec.record(WaitingRetry.class)));

  /** Where messages wait, as {@link WaitingRetry#place} has it. */
  public static final int IN_WINDOW = 0;

  public static final int IN_LOG = 1;
  public static final int PARKED = 2;

  /**
   * A message that waits.
   *
   * @param place {@link #IN_WINDOW} of the owner, {@link #IN_LOG}, or {@link #PARKED} behind
   *     another message of its key
   * @param attempts that have failed; 0 while parked before the first one
   * @param dueInMillis when the next attempt may begin; 0: now. Of no meaning while parked
   * @param firstFailedMillis when the first attempt failed, in milliseconds since 1970; 0: none has
   * @param lastFailedMillis when the last attempt failed; 0: none has
   */
  public record WaitingRetry(
      long offset,
      int place,
      int attempts,
      long dueInMillis,
      long firstFailedMillis,
      long lastFailedMillis) {}
}
