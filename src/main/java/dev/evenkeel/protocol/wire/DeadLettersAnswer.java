package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.DeadLetter;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Dead letters of a group on a shard, by offset.
 *
 * @param letters one without a copy has its message in one of the batches
 */
public record DeadLettersAnswer(List<DeadLetter> letters, List<PlacedBatch> batches) {
  public static final Codec<DeadLettersAnswer> CODEC =
      Codec.record(
          DeadLettersAnswer.class, Codec.list(RecordCodec.DEAD_LETTER), PlacedBatch.AT_THE_END);

  /** A dead letter and the message itself. */
  public record Opened(DeadLetter letter, Message message) {}

  /**
   * The dead letters with their messages.
   *
   * @throws RefusedException as {@link BatchMessages} does
   */
  public List<Opened> opened() {
    Set<Long> wanted =
        letters.stream()
            .filter(letter -> letter.copy() == null)
            .map(DeadLetter::offset)
            .collect(Collectors.toSet());
    BatchMessages messages = new BatchMessages(batches, wanted);
    List<Opened> opened = new ArrayList<>();
    for (DeadLetter letter : letters) {
      byte[] copy = letter.copy();
      opened.add(
          new Opened(
              letter, copy == null ? messages.at(letter.offset()) : MessageCodec.decode(copy)));
    }
    return opened;
  }
}
