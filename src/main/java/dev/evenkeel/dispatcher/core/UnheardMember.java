package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.protocol.TopicPattern;
import java.util.List;

/**
 * A run of a member that this dispatcher knows only from the registry or from a lease; it has not
 * received a heartbeat of it. It counts as alive until {@code untilMillis}, so that a change of the
 * dispatcher moves no shard.
 *
 * @param bornMillis null if only a lease names it
 * @param topics names and patterns of those it subscribes to; null if only a lease names it
 * @param clusterMember its cluster member or session; null if unknown
 * @param timeoutMillis silence after which it counts as dead, by its own wish
 * @param wishes what it last asked for, as far as the registry has it; none if unknown
 * @param user whose program it is; null: unknown
 */
public record UnheardMember(
    String group,
    String name,
    String instance,
    Long bornMillis,
    List<String> topics,
    String clusterMember,
    String host,
    long untilMillis,
    long timeoutMillis,
    Heartbeat.Wishes wishes,
    String user) {

  /** Whether it reads the topic, as far as that is known. */
  boolean mayRead(String topic) {
    return topics == null || topics.stream().anyMatch(each -> TopicPattern.matches(each, topic));
  }
}
