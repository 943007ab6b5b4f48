package dev.evenkeel.cluster;

import com.hazelcast.internal.util.Clock;
import com.hazelcast.internal.util.ClockProperties;
import java.util.concurrent.TimeUnit;

/**
 * The clock of all Hazelcast instances of this JVM: the wall clock's time when it was first read,
 * and from there on the monotonic clock. Hazelcast gives each operation the time at which it was
 * begun, and members refuse those that began too long ago. A member whose wall clock jumps forward
 * by more than {@code hazelcast.operation.call.timeout.millis} would refuse all operations of
 * others, so that nobody could join, nor register with the event bus, until the oldest member sends
 * its list and its time again, once a minute. That the clocks of members differ is no harm: each
 * learns the difference when it joins.
 */
public final class HazelcastClock extends Clock.ClockImpl {
  private final long originMillis = System.currentTimeMillis();
  private final long originNanos = System.nanoTime();

  /**
   * Before Hazelcast's first instance of this JVM is made; later it has no effect. A clock that the
   * application has chosen stays.
   */
  static void use() {
    if (System.getProperty(ClockProperties.HAZELCAST_CLOCK_IMPL) == null
        && System.getProperty(ClockProperties.HAZELCAST_CLOCK_OFFSET) == null) {
      System.setProperty(ClockProperties.HAZELCAST_CLOCK_IMPL, HazelcastClock.class.getName());
    }
  }

  @Override
  protected long currentTimeMillis() {
    return originMillis + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - originNanos);
  }
}
