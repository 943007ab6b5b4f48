package dev.evenkeel.client.internal.produce.core;

import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;

/** The part of the options that {@link ProducerCore} goes by; see {@link ProducerOptions}. */
public record CoreSettings(
    int batchBytes,
    long lingerMillis,
    int batchesInFlight,
    long deliveryTimeoutMillis,
    long diskFullTimeoutMillis) {

  /** Pause after the first failure of a batch; doubled with each further one. */
  static final long BACKOFF_MILLIS_MIN = 50;

  static final long BACKOFF_MILLIS_MAX = 1_000;

  public CoreSettings {
    check("batchBytes", batchBytes, 1, Limits.BATCH_BYTES_MAX);
    check("lingerMillis", lingerMillis, 0, 60_000);
    check("batchesInFlight", batchesInFlight, 1, Limits.BATCHES_REMEMBERED);
    check("deliveryTimeoutMillis", deliveryTimeoutMillis, 1, Integer.MAX_VALUE);
    check("diskFullTimeoutMillis", diskFullTimeoutMillis, 0, Integer.MAX_VALUE);
  }

  public static CoreSettings of(ProducerOptions options) {
    check("bufferBytes", options.getBufferBytes(), 1, Long.MAX_VALUE / 4);
    return new CoreSettings(
        options.getBatchBytes(),
        options.getLingerMillis(),
        options.getBatchesInFlight(),
        options.getDeliveryTimeoutMillis(),
        options.getDiskFullTimeoutMillis());
  }

  /** With a spool nothing is given up for its age. */
  public static CoreSettings ofSpool(ProducerOptions options) {
    CoreSettings usual = of(options);
    return new CoreSettings(
        usual.batchBytes(),
        usual.lingerMillis(),
        usual.batchesInFlight(),
        Integer.MAX_VALUE,
        Integer.MAX_VALUE);
  }

  private static void check(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw new RefusedException(
          Refusal.INVALID, "bad " + name + " " + value + ": use " + min + " to " + max);
    }
  }
}
