package dev.evenkeel.sim;

import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Knows all messages that were sent, and where in the log they are: each once, in their order. */
final class Sent {
  private static final int PAYLOAD_BYTES = 16;

  private final ShardLogs logs;

  /** Offsets by id, in the order of sending; -1: not in the log. */
  private final List<Long> offsets = new ArrayList<>();

  private final Map<Shard, Integer> last = new HashMap<>();

  Sent(ShardLogs logs) {
    this.logs = logs;
  }

  private static int id(Message message) {
    return (int) ByteBuffer.wrap(message.payload()).getLong(Long.BYTES);
  }

  /** A message to be sent, which its payload names. */
  Message message(Shard shard, String key, long nowMillis) {
    ByteBuffer payload = ByteBuffer.allocate(PAYLOAD_BYTES);
    payload.putInt(shard.topicId()).putInt(shard.shard()).putLong(offsets.size());
    offsets.add(-1L);
    byte[] bytes = key == null ? null : key.getBytes(StandardCharsets.UTF_8);
    return new Message(bytes, Map.of(), nowMillis, payload.array());
  }

  /**
   * The log has said that it has a batch.
   *
   * @param before the shard's end before that
   * @param after and now
   * @param told the offset that the producer is told
   */
  void taken(AppendBody.Item item, long before, long after, long told) {
    if (after > before) {
      placed(item.shard(), item.batch(), before);
    }
    BatchReader reader = item.batch().reader(0);
    for (long next = told; reader.hasNext(); next++) {
      int id = id(reader.next());
      long offset = offsets.get(id);
      if (offset < 0 || told != AppendResults.Result.OFFSET_FORGOTTEN && offset != next) {
        throw new SimulationFailure(
            "acknowledged at " + next + " of " + item.shard() + ", but it is at " + offset);
      }
    }
  }

  private void placed(Shard shard, Batch batch, long base) {
    BatchReader reader = batch.reader(base);
    while (reader.hasNext()) {
      long offset = reader.nextOffset();
      Message message = reader.next();
      int id = id(message);
      if (offsets.get(id) >= 0) {
        throw new SimulationFailure(
            "twice in the log: at " + offsets.get(id) + " and " + offset + " of " + shard);
      }
      Integer former = last.put(shard, id);
      if (former != null && former > id || offset != logs.end(shard)) {
        throw new SimulationFailure("out of its order in the log: at " + offset + " of " + shard);
      }
      offsets.set(id, offset);
      logs.appended(shard, message.keyText(), message.timestampMillis());
    }
  }

  /** Where a message is that a handler is given. */
  long offset(long id) {
    return offsets.get((int) id);
  }
}
