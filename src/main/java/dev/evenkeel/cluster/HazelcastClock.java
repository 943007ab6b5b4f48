package dev.evenkeel.cluster;

import com.hazelcast.internal.util.Clock;
import com.hazelcast.internal.util.ClockProperties;
import dev.evenkeel.util.SteadyClock;

/**
 * The clock of all Hazelcast instances of this JVM: one that never jumps.
 *
 * <p>Hazelcast stamps each operation with its start, and members refuse operations that are too
 * old. If the wall clock of a member jumps forward by more than {@code
 * hazelcast.operation.call.timeout.millis}, that member refuses everything from the others: nobody
 * can join, or register with the event bus, until the oldest member sends its member list and time
 * again, once a minute. Clocks of members may differ: each learns the difference when it joins.
 */
public final class HazelcastClock extends Clock.ClockImpl {
  private final SteadyClock clock = new SteadyClock();

  /**
   * Makes Hazelcast use this clock, unless the application has chosen another. Call it before the
   * first Hazelcast instance of the JVM is made; later it has no effect.
   */
  static void use() {
    if (System.getProperty(ClockProperties.HAZELCAST_CLOCK_IMPL) == null
        && System.getProperty(ClockProperties.HAZELCAST_CLOCK_OFFSET) == null) {
      System.setProperty(ClockProperties.HAZELCAST_CLOCK_IMPL, HazelcastClock.class.getName());
    }
  }

  @Override
  protected long currentTimeMillis() {
    return clock.millis();
  }
}
