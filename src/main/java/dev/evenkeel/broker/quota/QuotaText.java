package dev.evenkeel.broker.quota;

import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.Quota;

/** Quotas in words, for people. */
final class QuotaText {
  private QuotaText() {}

  /** What a quota allows, such as {@code 1000000 bytes/s, 100 messages/s}. */
  static String limits(Quota quota) {
    StringBuilder text = new StringBuilder();
    if (quota.bytesPerSecond() > 0) {
      text.append(quota.bytesPerSecond()).append(" bytes/s");
    }
    if (quota.messages() > 0) {
      String period = Durations.format(quota.periodMillis());
      text.append(text.isEmpty() ? "" : ", ").append(quota.messages()).append(" messages/");
      text.append(period.equals("1s") ? "s" : period);
    }
    return text.toString();
  }
}
