package dev.evenkeel.sim;

import dev.evenkeel.broker.node.ClusterClock;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Knows all delayed messages: which wait in the log, and which have got an offset, and when. */
final class Delays {
  /** By how much clocks that are about right may be wrong, each way. */
  static final int SKEW_MILLIS_MAX = 750;

  private static final int PAYLOAD_BYTES = 16;

  /** A delayed message; it waits while it is in the log and has no offset. */
  private static final class Delayed {
    final Shard shard;
    final long dueMillis;
    boolean taken;
    long offset = -1;

    Delayed(Shard shard, long dueMillis) {
      this.shard = shard;
      this.dueMillis = dueMillis;
    }

    boolean waits() {
      return taken && offset < 0;
    }
  }

  private final ShardLogs logs;

  /** In the order in which they were sent. */
  private final List<Delayed> all = new ArrayList<>();

  Delays(ShardLogs logs) {
    this.logs = logs;
  }

  private static SimulationFailure failure(String what, long id, Delayed delayed) {
    return new SimulationFailure(
        what
            + ": delayed message "
            + id
            + " of "
            + delayed.shard
            + ", due "
            + delayed.dueMillis
            + ", offset "
            + delayed.offset);
  }

  // ---- The producer

  /** A message to be delayed, which the payload names. */
  Message message(Shard shard, String key, long dueMillis, long nowMillis) {
    ByteBuffer payload = ByteBuffer.allocate(PAYLOAD_BYTES);
    payload.putInt(shard.topicId()).putInt(shard.shard()).putLong(-1 - all.size());
    all.add(new Delayed(shard, dueMillis));
    byte[] bytes = key == null ? null : key.getBytes(StandardCharsets.UTF_8);
    return new Message(bytes, Map.of(), nowMillis, payload.array());
  }

  // ---- The log

  private static long id(Message message) {
    return -1 - ByteBuffer.wrap(message.payload()).getLong(Long.BYTES);
  }

  /** The log keeps a batch until it is due. */
  void taken(Batch batch) {
    BatchReader reader = batch.reader(0);
    while (reader.hasNext()) {
      long id = id(reader.next());
      Delayed delayed = all.get((int) id);
      if (delayed.taken) {
        throw failure("taken twice", id, delayed);
      }
      delayed.taken = true;
    }
  }

  /**
   * The log has given offsets to a batch.
   *
   * @param clockMillis the leader's
   */
  void delivered(Shard shard, Batch batch, long base, long clockMillis) {
    BatchReader reader = batch.reader(base);
    while (reader.hasNext()) {
      long offset = reader.nextOffset();
      Message message = reader.next();
      long id = id(message);
      Delayed delayed = all.get((int) id);
      if (delayed.offset >= 0) {
        throw failure("delivered twice", id, delayed);
      }
      if (!delayed.taken || !delayed.shard.equals(shard) || offset != logs.end(shard)) {
        throw failure("delivered where it does not belong, " + offset, id, delayed);
      }
      if (delayed.dueMillis > clockMillis) {
        throw failure("delivered before it is due, at " + clockMillis, id, delayed);
      }
      checkTurn(id, delayed);
      delayed.offset = offset;
      logs.appended(shard, message.keyText(), message.timestampMillis());
    }
  }

  /** Nothing of the shard may wait that is due before it, or was sent before it and is due too. */
  private void checkTurn(long id, Delayed delayed) {
    for (int other = 0; other < all.size(); other++) {
      Delayed each = all.get(other);
      boolean first =
          each.dueMillis < delayed.dueMillis || each.dueMillis == delayed.dueMillis && other < id;
      if (each.waits() && each.shard.equals(delayed.shard) && first) {
        throw failure("delivered before " + other, id, delayed);
      }
    }
  }

  // ---- Consumers

  /** A handler is given a message; returns its offset. */
  long offset(long id, long nowMillis) {
    Delayed delayed = all.get((int) id);
    if (delayed.dueMillis > nowMillis + SKEW_MILLIS_MAX + ClusterClock.APART_MILLIS_MAX) {
      throw failure("handed out before it is due, at " + nowMillis, id, delayed);
    }
    return delayed.offset;
  }

  /** What waits of a shard, or was not taken. */
  int missing(Shard shard) {
    int missing = 0;
    for (Delayed each : all) {
      missing += each.shard.equals(shard) && each.offset < 0 ? 1 : 0;
    }
    return missing;
  }
}
