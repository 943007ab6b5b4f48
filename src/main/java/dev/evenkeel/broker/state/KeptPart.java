package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.protocol.wire.Bytes;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What is left of the body of a log entry if the state needs no whole batch of it any more, but
 * messages of retries and dead letters. Each batch with such a message has a piece:
 *
 * <pre>
 * i32  where the batch begins in the body
 * i32  the checksum in its header
 * i32  number of messages, or 0 for all; then for each i32, its position in the batch
 * ...  a batch of these messages, not compressed. For all: the batch as it was, because it cannot
 *      be read
 * </pre>
 *
 * <p>A message is found by the place that its row has, as in a whole body. Nodes choose by
 * themselves when they reduce a body to a part, so that their files differ, and their states do
 * not.
 */
public final class KeptPart {
  private final List<Piece> pieces;

  /**
   * A message that is needed.
   *
   * @param place of its batch
   * @param batchBytes length of the batch
   * @param position in the batch
   */
  public record Needed(BatchPlace place, int batchBytes, int position) {}

  private record Piece(int at, int crc, int[] positions, Batch batch) {
    /** What it takes in a segment. */
    int bytes() {
      return Integer.BYTES * (3 + positions.length) + batch.length();
    }

    boolean isWhole() {
      return positions.length == 0;
    }

    int indexOf(int position) {
      for (int i = 0; i < positions.length; i++) {
        if (positions[i] == position) {
          return i;
        }
      }
      return -1;
    }
  }

  private KeptPart(List<Piece> pieces) {
    this.pieces = pieces;
  }

  /**
   * Takes the needed messages out of a whole body. They are not compressed any more: it stops as
   * soon as they take more than the body, however much it would be.
   *
   * @return null if the body must stay as it is, because a batch is damaged, or because the part is
   *     not smaller
   */
  public static @Nullable KeptPart of(ByteBuffer body, List<Needed> needed) {
    List<Piece> pieces = new ArrayList<>();
    long bytes = 0;
    for (List<Needed> of : byPlace(needed).values()) {
      Needed first = of.get(0);
      int at = first.place().at();
      Batch batch;
      try {
        batch = Batch.whole(body.slice(at, first.batchBytes()));
      } catch (RefusedException | IndexOutOfBoundsException damaged) {
        return null;
      }
      if (batch.crc() != first.place().crc()) {
        return null;
      }
      Piece piece = piece(new Piece(at, batch.crc(), new int[0], batch), of);
      bytes += piece.bytes();
      if (bytes >= body.remaining()) {
        return null;
      }
      pieces.add(piece);
    }
    return new KeptPart(pieces);
  }

  /** The same without the messages that are not needed any more. */
  public KeptPart only(List<Needed> needed) {
    SortedMap<Integer, List<Needed>> byPlace = byPlace(needed);
    List<Piece> left = new ArrayList<>();
    for (Piece each : pieces) {
      List<Needed> of = byPlace.get(each.at);
      if (of != null) {
        left.add(each.isWhole() ? each : piece(each, of));
      }
    }
    return new KeptPart(left);
  }

  private static SortedMap<Integer, List<Needed>> byPlace(List<Needed> needed) {
    SortedMap<Integer, List<Needed>> byPlace = new TreeMap<>();
    for (Needed each : needed) {
      byPlace.computeIfAbsent(each.place().at(), any -> new ArrayList<>()).add(each);
    }
    return byPlace;
  }

  /** Some messages of a piece; the piece itself if it cannot be read. */
  private static Piece piece(Piece from, List<Needed> needed) {
    SortedSet<Integer> positions = new TreeSet<>();
    needed.forEach(each -> positions.add(each.position()));
    BatchBuilder messages = new BatchBuilder(512);
    List<Integer> taken = new ArrayList<>();
    BatchReader reader = from.batch.reader(0);
    try {
      for (int i = 0; reader.hasNext(); i++) {
        Message message = reader.next();
        int position = from.isWhole() ? i : from.positions[i];
        if (positions.contains(position)) {
          messages.add(message);
          taken.add(position);
        }
      }
    } catch (RefusedException unreadable) {
      return from;
    }
    if (taken.isEmpty()) {
      return from;
    }
    Batch batch = from.batch;
    return new Piece(
        from.at,
        from.crc,
        taken.stream().mapToInt(Integer::intValue).toArray(),
        messages.build(batch.producerId(), batch.producerEpoch(), batch.firstSequence()));
  }

  public ByteBuffer encode() {
    Bytes out = new Bytes(1_024);
    for (Piece each : pieces) {
      out.i32(each.at).i32(each.crc).i32(each.positions.length);
      for (int position : each.positions) {
        out.i32(position);
      }
      byte[] bytes = new byte[each.batch.length()];
      each.batch.bytes().get(0, bytes);
      out.raw(bytes);
    }
    return out.view();
  }

  /**
   * @throws RefusedException if the bytes are malformed
   */
  public static KeptPart decode(ByteBuffer content) {
    ByteBuffer in = content.slice();
    List<Piece> pieces = new ArrayList<>();
    while (in.hasRemaining()) {
      int at = in.getInt();
      int crc = in.getInt();
      int[] positions = new int[in.getInt()];
      for (int i = 0; i < positions.length; i++) {
        positions[i] = in.getInt();
      }
      pieces.add(new Piece(at, crc, positions, Batch.next(in)));
    }
    return new KeptPart(pieces);
  }

  private @Nullable Piece at(BatchPlace place) {
    for (Piece each : pieces) {
      if (each.at == place.at() && each.crc == place.crc()) {
        return each;
      }
    }
    return null;
  }

  /** The batch that begins at a place, if it is whole. */
  @Nullable Batch whole(BatchPlace place) {
    Piece piece = at(place);
    return piece == null || !piece.isWhole() ? null : piece.batch;
  }

  /**
   * A message of the batch that begins at a place; null if it is not here.
   *
   * @param position in the batch
   */
  @Nullable Message message(BatchPlace place, int position) {
    Piece piece = at(place);
    if (piece == null) {
      return null;
    }
    int index = piece.indexOf(position);
    return index < 0 ? null : piece.batch.message(index);
  }
}
