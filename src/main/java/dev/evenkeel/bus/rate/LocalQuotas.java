package dev.evenkeel.bus.rate;

import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import io.vertx.core.Future;

/**
 * The quotas as this node knows them, and a place to wait for them. Safe for use from any thread.
 */
public interface LocalQuotas {
  /** The quota as this node knows it, or null. Costs a look into a hash map at most. */
  Quota quota(QuotaKind kind, String name);

  /**
   * Waits until so much may be appended. The requests of one sender pass in their order. The future
   * completes on any thread.
   *
   * @param sender who pays for it; equal for all requests of a sender
   * @return fails with {@code RefusedException} OVERLOADED, at once, if that would take too long;
   *     then nothing was spent
   */
  Future<Void> pass(Quota.Key key, Object sender, long bytes, long messages);

  /** What has passed was not appended: its sender has it for what it sends next. */
  void giveBack(Quota.Key key, Object sender, long bytes, long messages);
}
