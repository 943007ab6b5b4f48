package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.DelayedId;
import dev.evenkeel.protocol.Message;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Delayed messages of a shard, by due time.
 *
 * @param next where to read on; null: this is all
 */
public record DelayedAnswer(List<DelayedCopy> messages, @Nullable DelayedId next) {
  private static final Codec<DelayedId> ID = Codec.record(DelayedId.class);

  public static final Codec<DelayedAnswer> CODEC =
      Codec.record(
          DelayedAnswer.class,
          Codec.list(Codec.record(DelayedCopy.class, ID, Codec.BLOB)),
          Codec.nullable(ID));

  /**
   * A delayed message.
   *
   * @param copy of the message, as {@link MessageCodec} writes it; null: it cannot be read
   */
  public record DelayedCopy(DelayedId id, byte @Nullable [] copy) {
    /** Null if it cannot be read. */
    public @Nullable Message message() {
      return copy == null ? null : MessageCodec.decode(copy);
    }
  }
}
