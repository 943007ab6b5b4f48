package dev.evenkeel.storage.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads small parts of bodies that lie close together in one segment with one read: batches of a
 * shard that a slow producer sends have a few hundred bytes each, and those of other shards lie
 * between them.
 */
final class JoinedRead {
  /** Reading as many bytes for nothing costs as much as another read of what is in memory. */
  static final int GAP_BYTES_MAX = 8 << 10;

  static final int BYTES_MAX = 256 << 10;

  private static final ThreadLocal<ByteBuffer> BYTES =
      ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(BYTES_MAX));

  private final Segment segment;
  private final List<BodyPart> parts = new ArrayList<>();
  private final List<Integer> positions = new ArrayList<>();
  private int end;

  private JoinedRead(Segment segment) {
    this.segment = segment;
  }

  /** As many parts as can be read at once, beginning with {@code first}. */
  static JoinedRead of(SegmentList segments, List<BodyPart> parts, int first) {
    JoinedRead joined = new JoinedRead(segments.of(parts.get(first).index()));
    for (BodyPart part : parts.subList(first, parts.size())) {
      if (segments.of(part.index()) != joined.segment || !joined.add(part)) {
        break;
      }
    }
    return joined;
  }

  private boolean add(BodyPart part) {
    RecordTable table = segment == null ? null : segment.table();
    int row = table == null ? -1 : table.row(part.index());
    if (row < 0
        || table.isPartial(row)
        || part.offset() + part.into().remaining() > table.length(row)) {
      return false;
    }
    int at = table.position(row) + RecordHeader.BYTES + part.offset();
    int begin = positions.isEmpty() ? at : positions.get(0);
    int after = at + part.into().remaining();
    boolean close = at >= end && at - end <= GAP_BYTES_MAX && after - begin <= BYTES_MAX;
    if (!parts.isEmpty() && !close) {
      return false;
    }
    parts.add(part);
    positions.add(at);
    end = after;
    return true;
  }

  /** How many parts there are; 0 if the first one is not there. */
  int count() {
    return parts.size();
  }

  /** Fills all parts, which are two or more; none if it fails. */
  void read() throws IOException {
    int begin = positions.get(0);
    ByteBuffer bytes = BYTES.get().clear().limit(end - begin);
    segment.read(begin, bytes);
    for (int i = 0; i < parts.size(); i++) {
      ByteBuffer into = parts.get(i).into();
      int from = positions.get(i) - begin;
      into.put(bytes.clear().position(from).limit(from + into.remaining()));
    }
  }
}
