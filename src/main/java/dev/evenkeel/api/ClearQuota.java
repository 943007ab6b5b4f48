package dev.evenkeel.api;

import dev.evenkeel.protocol.QuotaKind;

/**
 * Removes a quota, if there is one.
 *
 * @param kind what is limited: what a producer, a user (principal) or all producers of a topic
 *     send, what the members of a group fetch, or how many messages their handlers start
 *     (group-rate)
 * @param name name of the producer, user, topic or group. It need not exist yet
 */
public record ClearQuota(QuotaKind kind, String name) {
  /** Says that there is no such quota any more. */
  public record ClearedQuota(QuotaKind kind, String name, boolean cleared) {}
}
