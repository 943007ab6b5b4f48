package dev.evenkeel.protocol.wire;

import static dev.evenkeel.protocol.Refusal.INVALID;

import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Single messages out of the batches that an answer brings. Each batch is unpacked once. */
public final class BatchMessages {
  private static final byte[] NOTHING = new byte[0];

  private final Map<Long, Message> messages = new HashMap<>();
  private final Map<Long, MalformedException> unreadable = new HashMap<>();

  /**
   * @param wanted offsets of the messages, each of which is in one of the batches
   * @throws RefusedException if a batch is damaged, or this program lacks the library to unpack it,
   *     or a message is in none of the batches
   */
  public BatchMessages(List<PlacedBatch> batches, Set<Long> wanted) {
    batches.forEach(each -> read(each, wanted));
    for (long offset : wanted) {
      if (!messages.containsKey(offset)) {
        throw new MalformedException(
            INVALID, "the answer lacks the batch of the message at offset " + offset);
      }
    }
  }

  private void read(PlacedBatch placed, Set<Long> wanted) {
    BatchReader reader = placed.batch().reader(placed.baseOffset());
    boolean sound = true;
    while (reader.hasNext()) {
      long offset = reader.nextOffset();
      Message message;
      try {
        message = reader.next();
      } catch (MalformedException malformed) {
        reader.giveUp();
        unreadable.put(offset, malformed);
        message = new Message(null, Map.of(), 0, sound ? placed.bytes() : NOTHING);
        sound = false;
      }
      if (wanted.contains(offset)) {
        messages.put(offset, message);
      }
    }
  }

  /**
   * The wanted message at that offset. One that cannot be read is shown as a message without a key:
   * the first such message of a batch has the whole batch as its payload, so that somebody can look
   * at it.
   */
  public Message at(long offset) {
    return Objects.requireNonNull(messages.get(offset));
  }

  /** Why the message at that offset cannot be read; null: it can. */
  public @Nullable MalformedException fault(long offset) {
    return unreadable.get(offset);
  }
}
