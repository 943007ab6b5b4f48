package dev.evenkeel.protocol.wire;

import static dev.evenkeel.protocol.Refusal.INVALID;

import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.RefusedException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A whole batch in an answer about single messages, which the reader takes out itself: nodes never
 * unpack. See {@link BatchMessages}.
 *
 * @param baseOffset offset of its first message
 * @param bytes the batch
 */
public record PlacedBatch(long baseOffset, byte[] bytes) {
  private static final Codec<List<PlacedBatch>> ALL = Codec.list(Codec.record(PlacedBatch.class));

  /** At the end of an answer. No bytes stand for none: older readers know only that. */
  static final Codec<List<PlacedBatch>> AT_THE_END =
      Codec.of(
          (out, batches) -> {
            if (!batches.isEmpty()) {
              ALL.write(out, batches);
            }
          },
          in -> in.remaining() == 0 ? List.of() : ALL.read(in));

  /**
   * The batch, compared with its checksum.
   *
   * @throws RefusedException if it is damaged, or this program lacks the library to unpack it
   */
  Batch batch() {
    if (bytes == null) {
      throw new MalformedException(INVALID, "the batch at offset " + baseOffset + " is missing");
    }
    return Batch.next(ByteBuffer.wrap(bytes)).verified().requireLibrary();
  }
}
