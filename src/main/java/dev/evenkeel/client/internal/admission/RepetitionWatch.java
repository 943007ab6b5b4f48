package dev.evenkeel.client.internal.admission;

import dev.evenkeel.dedup.Repetition;
import dev.evenkeel.dedup.RepetitionMeter;
import dev.evenkeel.protocol.Message;

/**
 * Measures how often the messages of a consumer repeat themselves, with and without dedup. Most
 * messages cost a decrement. Not thread-safe.
 */
public final class RepetitionWatch {
  private final DedupKeys keys;
  private final int parallel;
  private final boolean shardInOrder;
  private RepetitionMeter meter;
  private int inFlight;

  /** The digest of the next message that is like no other. */
  private long unlike;

  /**
   * @param parallel most handlers at once
   * @param shardInOrder whether a shard's messages are handled one after another
   */
  public RepetitionWatch(DedupKeys keys, int parallel, boolean shardInOrder) {
    this.keys = keys;
    this.parallel = parallel;
    this.shardInOrder = shardInOrder;
    begin(parallel);
  }

  private void begin(int atOnce) {
    if (atOnce != inFlight) {
      inFlight = atOnce;
      meter = new RepetitionMeter(atOnce);
    }
  }

  /** Notes how many shards are owned. Measurements for another number of handlers are dropped. */
  public void owned(int shards) {
    if (shardInOrder && shards > 0) {
      begin(Math.min(parallel, shards));
    }
  }

  /** Measures a message that is tried for the first time. */
  public void see(String topic, Message message) {
    if (meter.next()) {
      byte[] bytes;
      try {
        bytes = keys.bytes(message);
      } catch (RuntimeException e) {
        // The dedup step reports it.
        bytes = null;
      }
      meter.observe(bytes == null ? ++unlike : keys.digest(topic, bytes));
    }
  }

  public Repetition read() {
    return meter.read();
  }
}
