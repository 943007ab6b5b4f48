package dev.evenkeel.client.internal.produce.core;

import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.Compression;

/** The options that {@link ProducerCore} uses; see {@link ProducerOptions}. */
public record CoreSettings(
    int batchBytes,
    long lingerMillis,
    int batchesInFlight,
    Compression compression,
    long deliveryTimeoutMillis,
    long diskFullTimeoutMillis,
    long quotaTimeoutMillis) {

  /** Pause after the first failure of a batch; doubled with each further one. */
  static final long BACKOFF_MILLIS_MIN = 50;

  static final long BACKOFF_MILLIS_MAX = 1_000;

  /** With a spool, the producer gives up no message for its age. */
  public static CoreSettings of(ProducerOptions options) {
    boolean spool = !options.getSpool().isEmpty();
    return new CoreSettings(
        options.getBatchBytes(),
        options.getLingerMillis(),
        options.getBatchesInFlight(),
        options.getCompression(),
        spool ? Integer.MAX_VALUE : options.getDeliveryTimeoutMillis(),
        spool ? Integer.MAX_VALUE : options.getDiskFullTimeoutMillis(),
        options.getQuotaTimeoutMillis());
  }
}
