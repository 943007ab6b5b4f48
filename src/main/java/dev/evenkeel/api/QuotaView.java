package dev.evenkeel.api;

import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import org.jspecify.annotations.Nullable;

/**
 * A limit of what a producer, user, topic or group may append, fetch or start.
 *
 * @param kind what is limited
 * @param name of the producer, user, topic or group
 * @param bytesPerSecond {@code null}: no limit
 * @param messages messages per period; null: no limit
 * @param periodMillis the period of messages; null: they have no limit
 * @param usedBytesPerSecond what was used in the last seconds; only in a list
 * @param usedMessagesPerSecond what was used in the last seconds; only in a list
 */
public record QuotaView(
    QuotaKind kind,
    String name,
    @Nullable Long bytesPerSecond,
    @Nullable Long messages,
    @Nullable Long periodMillis,
    @LeftOut @Nullable Long usedBytesPerSecond,
    @LeftOut @Nullable Long usedMessagesPerSecond) {

  /** A quota, without what was used. */
  public static QuotaView of(Quota quota) {
    return of(quota, null, null);
  }

  /** A quota, with what was used. */
  public static QuotaView of(Quota quota, @Nullable Long usedBytes, @Nullable Long usedMessages) {
    boolean bytes = quota.bytesPerSecond() > 0;
    boolean messages = quota.messages() > 0;
    return new QuotaView(
        quota.kind(),
        quota.name(),
        bytes ? (Long) quota.bytesPerSecond() : null,
        messages ? (Long) quota.messages() : null,
        messages ? (Long) quota.periodMillis() : null,
        usedBytes,
        usedMessages);
  }
}
