package dev.evenkeel.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Joins a group, and opens a session that gets messages: by requests for them, or at an address of
 * the event bus.
 *
 * @param group name of the group
 * @param topics names of topics, and patterns in which * stands for any number of characters
 * @param member name of the member; a generated name if it is left out
 * @param order what is kept in order: shard unless the mode is level
 * @param parallel most messages without a result
 * @param range mode level only: how many finished messages one member may be ahead of another
 * @param filter conditions on key and headers, such as key=k1, key^=k, header:region=eu or
 *     header:region^=eu-. The session gets only messages that fit
 * @param retryDelaysMillis pauses before the second and all further attempts
 * @param crashesMax after how many deaths of its consumers a message becomes a dead letter: 3 to
 *     1000, or 0 for never. It is a death if a session expires and its client has got messages and
 *     given no result for them
 * @param stallTimeoutMillis mode level only
 * @param dedupTimeoutMillis with dedup only
 * @param from where a new group begins: earliest, latest, or a time
 * @param address an address of the event bus, to which the node sends each message as a request. A
 *     reply finishes the message. It must not begin with evenkeel. or __vertx.
 * @param addressTimeoutMillis with address only: how long a message waits for its reply before it
 *     has failed, at most lockTimeMillis; 30,000 if it is left out, or less with a shorter
 *     lockTimeMillis
 * @param expiresMs how long the session stays after the end of its last request. Then it expires:
 *     its messages without a result come again to other members, and that counts as a death of
 *     their consumer. With address, the session stays as long as anybody listens there, too
 * @param user whose session it is; null: the cluster has no users
 */
@Body("NewConsumerSession")
public record OpenSession(
    String group,
    @NotEmpty List<String> topics,
    @Nullable String member,
    @Words({"sharded", "level", "singleton"}) @Default("sharded") String mode,
    @Words({"shard", "key", "none"}) @Nullable String order,
    @Bounds(min = 1) @Default("100") int parallel,
    @Nullable Integer range,
    @Nullable List<String> filter,
    @Words({"off", "key", "payload"}) @Default("off") String dedup,
    @Nullable List<Long> retryDelaysMillis,
    @Words({"retry", "dead_letter", "stop"}) @Default("retry") String onFailure,
    @Bounds(min = 0, max = 1_000) @Default("5") int crashesMax,
    @Default("50000") long lockTimeMillis,
    @Nullable Long stallTimeoutMillis,
    @Nullable Long dedupTimeoutMillis,
    @AlsoNumber @Default("earliest") String from,
    @Nullable String address,
    @Nullable Long addressTimeoutMillis,
    @Bounds(min = 5_000, max = 600_000) @Default("30000") int expiresMs,
    @Caller @Nullable String user) {
  /** The session. */
  public record OpenedSession(String session, String member, int expiresMs) {}
}
