package dev.evenkeel.client.internal.produce.core;

import dev.evenkeel.client.ProducerOptions;

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

  public static CoreSettings of(ProducerOptions options) {
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
}
