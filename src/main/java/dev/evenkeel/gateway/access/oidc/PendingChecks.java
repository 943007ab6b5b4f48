package dev.evenkeel.gateway.access.oidc;

import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.HashMap;
import java.util.Map;

/**
 * Divides the checks of unknown tokens that may wait among the addresses they come from: none has
 * more than are left for others, so that whoever invents tokens holds up nobody but itself.
 *
 * <p>Safe for use from any thread.
 */
final class PendingChecks {
  private final int max;
  private final Map<String, Integer> bySource = new HashMap<>();
  private int all;

  PendingChecks(int max) {
    this.max = max;
  }

  /**
   * Counts one more, until {@link #give}.
   *
   * @throws RefusedException OVERLOADED if that is too many
   */
  synchronized void take(String source) {
    int own = bySource.getOrDefault(source, 0);
    if (!FairShare.fits(own, all, 1, max, 1)) {
      throw Refusal.OVERLOADED.error(
          "%s tokens that this node has not seen before wait for their check: try again after a"
              + " pause",
          all);
    }
    bySource.put(source, own + 1);
    all++;
  }

  synchronized void give(String source) {
    bySource.computeIfPresent(source, (any, own) -> own == 1 ? null : own - 1);
    all--;
  }

  synchronized int count() {
    return all;
  }
}
