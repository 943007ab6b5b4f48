package dev.evenkeel.broker.quota;

import dev.evenkeel.protocol.Quota;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rates of groups that members have named, and nobody else has set. Such a rate ends with the
 * members: it goes when the group has had none for {@link #KEPT_NANOS}.
 *
 * <p>No clock and no I/O: {@code now} is a monotonic clock in nanoseconds. Not thread-safe.
 */
public final class MemberRates {
  /** For how long a rate stays without members: they may just be restarted. */
  public static final long KEPT_NANOS = 60_000_000_000L;

  private record Named(Quota rate, long seenNanos) {}

  private final Map<String, Named> byGroup = new HashMap<>();

  /**
   * A member names a rate, which counts from now on.
   *
   * @param former the rate that the group had until now, or null
   */
  public void named(@Nullable Quota former, Quota rate, long now) {
    Named known = byGroup.get(rate.name());
    if (former == null || known != null && known.rate().equals(former)) {
      byGroup.put(rate.name(), new Named(rate, now));
    } else {
      // Somebody else has set it, for good.
      byGroup.remove(rate.name());
    }
  }

  /** The groups with such a rate. */
  public List<String> groups() {
    return List.copyOf(byGroup.keySet());
  }

  /**
   * Looks at a group.
   *
   * @param rate that it has now, or null
   * @param hasMembers whether it has members, or waits for some
   * @return whether the rate is to go
   */
  public boolean isOver(String group, @Nullable Quota rate, boolean hasMembers, long now) {
    Named named = byGroup.get(group);
    if (named == null) {
      return false;
    }
    if (!named.rate().equals(rate)) {
      byGroup.remove(group);
      return false;
    }
    if (hasMembers) {
      byGroup.put(group, new Named(named.rate(), now));
      return false;
    }
    boolean over = now - named.seenNanos() >= KEPT_NANOS;
    if (over) {
      byGroup.remove(group);
    }
    return over;
  }

  /** Another node gives out the time of quotas now. */
  public void clear() {
    byGroup.clear();
  }
}
