package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;

/** Is called when the state has changed, on the applying thread: it must return at once. */
public interface DataListener {
  /** The shard has a new start or end, or is gone. */
  void shardChanged(Shard shard);

  /** A lease was granted, drained or released. */
  void leaseChanged(Lease lease);

  /** A lease was forgotten; {@code former} is how it was. */
  void leaseForgotten(Lease former);

  /** Dead letters were put back among the retries of a group on a shard. */
  void retriesAdded(LeaseKey key);

  /** The next delayed batch is due at another time than before. */
  default void nextDueChanged() {}

  /** The whole state was replaced. */
  void everythingChanged();
}
