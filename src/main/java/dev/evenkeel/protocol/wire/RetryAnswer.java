package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.RefusedException;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Messages whose next attempt is due.
 *
 * @param nextInMillis when the next message is due that is not among these and not with the owner;
 *     0: now, -1: there is none
 * @param due messages of one key are in their order, and those behind the first may be tried after
 *     it
 * @param known what a new owner must know; null if the request did not ask for it
 * @param batches that have the messages of retries without a copy
 */
public record RetryAnswer(
    long nextInMillis, List<Retry> due, @Nullable Known known, List<PlacedBatch> batches) {
  /**
   * A message to be tried.
   *
   * @param attempts that have failed
   * @param copy of the message, as {@code wire.MessageCodec} writes it; null: it is in one of the
   *     batches
   */
  public record Retry(long offset, int attempts, long keyHash, byte @Nullable [] copy) {}

  /** A message that waits in the owner's window. */
  public record Held(long offset, int attempts, long dueInMillis) {}

  /** The messages of one key that wait in the log: how many, and the lowest offset. */
  public record KeyQueue(long keyHash, int messages, long firstOffset) {}

  /**
   * What a new owner must know.
   *
   * @param marks offsets that have left the window
   * @param queues the keys with messages that wait in the log
   */
  public record Known(List<Long> marks, List<Held> held, List<KeyQueue> queues) {
    public static final Known NOTHING = new Known(List.of(), List.of(), List.of());
  }

  public static final Codec<RetryAnswer> CODEC =
      Codec.record(
          RetryAnswer.class,
          Codec.I64,
          Codec.list(Codec.record(Retry.class)),
          Codec.nullable(Codec.record(Known.class)),
          PlacedBatch.AT_THE_END);

  /**
   * The messages of the retries without a copy.
   *
   * @throws RefusedException as {@link BatchMessages} does
   */
  public BatchMessages messages() {
    return new BatchMessages(
        batches,
        due.stream()
            .filter(retry -> retry.copy() == null)
            .map(Retry::offset)
            .collect(Collectors.toSet()));
  }
}
