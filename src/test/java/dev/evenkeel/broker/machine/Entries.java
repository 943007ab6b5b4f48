package dev.evenkeel.broker.machine;

import static dev.evenkeel.Loops.each;

import dev.evenkeel.log.EntryBodies;
import dev.evenkeel.log.EntryBody;
import dev.evenkeel.log.ReplicatedState;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendHead;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Entries as tests keep them, in one piece: one that appends batches has its header, and then the
 * body that the log keeps apart from the head.
 */
public final class Entries {
  private Entries() {}

  /** An entry that appends batches. */
  public static byte[] append(long nowMillis, AppendBody.Item... items) {
    Bytes out = Entry.appending(FeatureLevel.FIRST, nowMillis);
    each(items, item -> AppendBody.write(out, item));
    return out.toArray();
  }

  /** The body, or null if the entry has none that can be read. */
  private static ByteBuffer body(ByteBuffer entry) {
    if (entry.remaining() < Entry.HEADER_BYTES || entry.get(entry.position() + 1) != Entry.APPEND) {
      return null;
    }
    ByteBuffer body = entry.slice();
    body.position(Entry.HEADER_BYTES);
    try {
      AppendBody.read(body);
      return body.slice();
    } catch (RefusedException malformed) {
      return null;
    }
  }

  /** Writes the body, and applies the entry, as a log does. */
  public static ByteBuffer apply(ReplicatedState state, long term, long index, ByteBuffer entry) {
    ByteBuffer body = body(entry);
    EntryBodies bodies = state.bodies();
    if (body == null || bodies == null) {
      return state.apply(term, index, entry, EntryBody.NONE);
    }
    Bytes head = new Bytes();
    byte[] header = new byte[Entry.HEADER_BYTES];
    entry.get(entry.position(), header);
    head.raw(header);
    AppendBody.read(body).forEach(item -> AppendHead.write(head, item));
    return apply(state, term, index, head.view().asReadOnlyBuffer(), body);
  }

  /**
   * The same for an entry whose body is apart from it.
   *
   * @param body null: the entry has none
   */
  public static ByteBuffer apply(
      ReplicatedState state, long term, long index, ByteBuffer head, ByteBuffer body) {
    if (body == null) {
      return state.apply(term, index, head, EntryBody.NONE);
    }
    try {
      state.bodies().append(List.of(new EntryBodies.Body(term, index, List.of(body))));
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
    return state.apply(term, index, head, new EntryBody(List.of(body)));
  }
}
