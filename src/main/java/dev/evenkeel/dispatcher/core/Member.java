package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;

/**
 * A live member.
 *
 * @param beat its last heartbeat
 * @param heardMillis when that arrived, by the dispatcher's clock
 */
public record Member(Heartbeat beat, long heardMillis) {
  public String name() {
    return beat.member();
  }

  public String instance() {
    return beat.instance();
  }

  boolean timedOut(long nowMillis) {
    return nowMillis - heardMillis >= beat.memberTimeoutMillis();
  }

  /** The later run of one name; a tie goes to the larger instance, so that all decide alike. */
  static boolean later(long born, String instance, long otherBorn, String otherInstance) {
    return born != otherBorn ? born > otherBorn : instance.compareTo(otherInstance) > 0;
  }
}
