package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.state.SharedTable;
import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a user gets another row of a {@link SharedTable}: nobody gets more while it has
 * its share of what is left, so there is always room for another user.
 *
 * @param own rows that the user has
 * @param all rows that there are, with and without an owner
 * @param weight the share of the user, usually 1
 */
record TableShare(SharedTable table, String user, long own, long all, double weight) {

  /** TOO_LARGE, with what the user has and can do; null: it gets the row. */
  @Nullable RefusedException refusal() {
    return FairShare.fits(own, all, 1, table.max(), weight)
        ? null
        : Refusal.TOO_LARGE.error(
            "the user '%s' has %s of the %s %s of the cluster, and %s are taken: %s",
            user, own, table.max(), table.words(), all, table.advice());
  }
}
