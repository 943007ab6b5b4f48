package dev.evenkeel.client.internal.admission;

import dev.evenkeel.dedup.Repetition;
import dev.evenkeel.dedup.RepetitionMeter;
import dev.evenkeel.protocol.Message;

/**
 * Measures how much a consumer's messages repeat themselves, whether or not they are deduplicated.
 * Most messages cost a decrement. Not safe for threads.
 */
public final class RepetitionWatch {
  private final DedupKeys keys;
  private final int parallel;
  private final boolean shardInOrder;
  private RepetitionMeter meter;
  private int inFlight;

  /** Stands for the next message that is like no other. */
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

  /** So many shards are owned: what was measured with another number of handlers is dropped. */
  public void owned(int shards) {
    if (shardInOrder && shards > 0) {
      begin(Math.min(parallel, shards));
    }
  }

  /** A message is tried for the first time. */
  public void see(String topic, Message message) {
    if (meter.next()) {
      byte[] bytes;
      try {
        bytes = keys.bytes(message);
      } catch (RuntimeException e) {
        // Whoever needs it will find out.
        bytes = null;
      }
      meter.observe(bytes == null ? ++unlike : keys.digest(topic, bytes));
    }
  }

  public Repetition read() {
    return meter.read();
  }
}
