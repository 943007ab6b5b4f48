package dev.evenkeel.bus.rate;

import dev.evenkeel.protocol.Quota;
import io.vertx.core.Future;

/**
 * The quotas of this node, which programs that take messages ask before they pass them on. Brokers
 * put it into {@link dev.evenkeel.bus.LocalObjects}. Safe for use from any thread.
 */
public interface AppendQuotas {
  /** Whether there is such a quota now. Costs a look into a hash map at most. */
  boolean has(Quota.Key key);

  /**
   * Waits until so much may be appended. Callers pass in their order. The future completes on any
   * thread.
   *
   * @return fails with {@code RefusedException} OVERLOADED, at once, if that would take too long;
   *     then nothing was spent
   */
  Future<Void> pass(Quota.Key key, long bytes, long messages);
}
