package dev.evenkeel.broker.state;

import static dev.evenkeel.protocol.Refusal.CORRUPT;

import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.MessageCodec;
import dev.evenkeel.protocol.wire.PlacedBatch;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the messages of retries or dead letters for one answer, as many as it may bring. A node
 * cuts a message out of its batch. It does not unpack, so a compressed batch is answered whole.
 */
final class MessageReader {
  /** Most bytes of batches that are read for one answer, and those of one batch more. */
  private static final long READ_BYTES_MAX = 16 << 20;

  /**
   * Most bytes of the batches that an answer brings when they are unpacked, and those of one batch
   * more: whoever gets it unpacks them all.
   */
  private static final long UNPACKED_BYTES_MAX = 4 << 20;

  private final BatchSource source;
  private final int bytesMax;
  private final List<PlacedBatch> whole = new ArrayList<>();
  private final Set<Long> bases = new HashSet<>();
  private @Nullable BatchPlace lastPlace;

  /** The batch at the last place; null if only a part of it is left. */
  private @Nullable Batch last;

  private @Nullable KeptPart part;
  private long bytesRead;
  private long bytesUnpacked;
  private long bytes;

  /**
   * @param bytesMax at least one message is answered, more only within this
   */
  MessageReader(BatchSource source, int bytesMax) {
    this.source = source;
    this.bytesMax = bytesMax;
  }

  /**
   * A message that was read.
   *
   * @param copy null: whoever gets the answer must take it out of the batch
   * @param batch that the answer must bring with it; null: none, or it brings it already
   * @param bytes of all that, and of the message when it is unpacked; above 0
   */
  record Found(byte @Nullable [] copy, @Nullable PlacedBatch batch, int bytes) {
    /** Stands for a message of which every node's copy is damaged. It cannot be decoded. */
    static final Found LOST = new Found(new byte[0], null, 1);

    boolean isLost() {
      return copy != null && copy.length == 0;
    }
  }

  /**
   * Reads a message and adds it to the answer. Returns null if the answer must end before it: there
   * is no room, or its batch is damaged.
   *
   * @throws RefusedException CORRUPT if the batch is missing or damaged, and this is the first
   */
  @Nullable Found take(KeptMessage message, long offset) {
    boolean first = bytes == 0;
    Found found;
    try {
      found = read(message, offset);
    } catch (RefusedException damaged) {
      if (first) {
        throw damaged;
      }
      return null;
    }
    boolean full =
        bytes + found.bytes() > bytesMax
            || bytesRead > READ_BYTES_MAX
            || found.batch() != null && bytesUnpacked > UNPACKED_BYTES_MAX;
    if (!first && full) {
      return null;
    }
    bytes += found.bytes();
    if (found.batch() != null) {
      bases.add(found.batch().baseOffset());
      bytesUnpacked += Objects.requireNonNull(last).unpackedLength();
      whole.add(found.batch());
    }
    return found;
  }

  private Found read(KeptMessage message, long offset) {
    if (message.copy() != null) {
      return new Found(message.copy(), null, message.copy().length);
    }
    BatchPlace place = Objects.requireNonNull(message.place());
    int position = (int) (offset - message.base());
    try {
      look(place, message.batchBytes());
      if (last == null) {
        return ofPart(place, position);
      }
    } catch (RefusedException damaged) {
      if (source.isLost(place)) {
        return Found.LOST;
      }
      throw damaged;
    }
    Batch batch = last;
    if (!batch.isCompressed()) {
      try {
        return copied(batch.message(position));
      } catch (MalformedException malformed) {
        // Whoever gets the batch sees what is wrong with it.
      }
    }
    int share = batch.unpackedLength() / batch.count();
    return bases.contains(message.base())
        ? new Found(null, null, share)
        : new Found(
            null, new PlacedBatch(message.base(), batch.bytes().array()), share + batch.length());
  }

  private static Found copied(Message message) {
    byte[] copy = MessageCodec.encode(message);
    return new Found(copy, null, copy.length);
  }

  private Found ofPart(BatchPlace place, int position) {
    Message message = Objects.requireNonNull(part).message(place, position);
    if (message == null) {
      throw CORRUPT.error("the message is missing in what is left of its batch");
    }
    return copied(message);
  }

  /** Reads the batch of a message, or the part of it that is left. */
  private void look(BatchPlace place, int batchBytes) {
    if (place.equals(lastPlace)) {
      return;
    }
    bytesRead += batchBytes;
    byte[] found = source.read(place, batchBytes);
    KeptPart left = found == null ? source.part(place) : null;
    Batch batch;
    if (found != null) {
      batch = Batch.whole(ByteBuffer.wrap(found));
    } else if (left != null) {
      batch = left.whole(place);
    } else {
      throw CORRUPT.error("the bytes of the batch are missing");
    }
    if (batch != null && batch.crc() != place.crc()) {
      throw CORRUPT.error("another batch is in its place");
    }
    last = batch;
    part = left;
    lastPlace = place;
  }

  /** The batches that the answer must bring. */
  List<PlacedBatch> batches() {
    return whole;
  }
}
