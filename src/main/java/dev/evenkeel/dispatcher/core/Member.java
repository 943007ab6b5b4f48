package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.StartAt;
import java.util.List;
import java.util.Set;

/**
 * A live member.
 *
 * @param beat its last heartbeat
 * @param topics names of the topics that it reads: those of its subscription that the group's
 *     record names
 * @param heardMillis when the heartbeat arrived, by the dispatcher's clock
 */
public record Member(Heartbeat beat, Set<String> topics, long heardMillis) {
  /** One that has just joined, without wishes of its own. */
  static Member supposed(
      String group,
      GroupPolicy policy,
      String name,
      List<String> subscription,
      Set<String> topics) {
    long now = Long.MAX_VALUE;
    return new Member(
        new Heartbeat(
            group,
            name,
            name,
            now,
            policy,
            subscription,
            StartAt.EARLIEST,
            null,
            null,
            Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT,
            0),
        topics,
        now);
  }

  public String name() {
    return beat.member();
  }

  public String instance() {
    return beat.instance();
  }

  /** The same, which reads these topics now. */
  Member reading(Set<String> others) {
    return new Member(beat, others, heardMillis);
  }

  boolean timedOut(long nowMillis) {
    return nowMillis - heardMillis >= beat.memberTimeoutMillis();
  }

  /** The later run of one name; a tie goes to the larger instance, so that all decide alike. */
  static boolean later(long born, String instance, long otherBorn, String otherInstance) {
    return born != otherBorn ? born > otherBorn : instance.compareTo(otherInstance) > 0;
  }
}
