package dev.evenkeel.broker.serve;

/** When a leader delivers what is due, for simulations elsewhere. */
public final class DueBench {
  /** Nothing waits. */
  public static final long NOTHING = DeliverySchedule.NOTHING;

  private DueBench() {}

  /** As {@link DeliverySchedule#waitMillis}, while no delivery fails. */
  public static long waitMillis(long nowMillis, long nextDueMillis, long sinceLastMillis) {
    return DeliverySchedule.waitMillis(nowMillis, nextDueMillis, sinceLastMillis, 0);
  }
}
