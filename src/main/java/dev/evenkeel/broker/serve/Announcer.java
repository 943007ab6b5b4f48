package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.state.DataListener;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Passes changes of a data log group's state on, from the applying thread to waiting fetches and to
 * listeners on the event bus. Joins many changes of shards into one turn of the context.
 */
final class Announcer implements DataListener {
  private final ServeContext serve;
  private final LogGroupServer group;
  private final WaitingFetches fetches;
  private final DueTimer due;
  private final Set<Shard> changed = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean scheduled = new AtomicBoolean();

  Announcer(ServeContext serve, LogGroupServer group, WaitingFetches fetches, DueTimer due) {
    this.serve = serve;
    this.group = group;
    this.fetches = fetches;
    this.due = due;
    group.state().listen(this);
  }

  /** Stops listening to the state, and delivers nothing more. */
  void close() {
    due.close();
    group.state().unlisten(this);
  }

  @Override
  public void shardChanged(Shard shard) {
    changed.add(shard);
    if (scheduled.compareAndSet(false, true)) {
      serve.run(this::wake);
    }
  }

  private void wake() {
    // First the flag: a shard added from now on schedules another turn.
    scheduled.set(false);
    for (Shard shard : changed) {
      changed.remove(shard);
      fetches.shardChanged(shard);
    }
  }

  @Override
  public void leaseChanged(Lease lease) {
    announce(lease.shard(), LeaseChange.of(lease));
  }

  @Override
  public void leaseForgotten(Lease former) {
    announce(former.shard(), LeaseChange.forgotten(former));
  }

  @Override
  public void retriesAdded(LeaseKey key) {
    serve.run(() -> fetches.retriesAdded(key));
  }

  private void announce(Shard shard, LeaseChange change) {
    serve.run(
        () -> {
          fetches.leaseChanged(new LeaseKey(shard, change.group()));
          if (group.nodeId().equals(group.log().leadership().leader())) {
            serve.vertx().eventBus().publish(Addresses.LEASE_CHANGES, change.toJson());
          }
        });
  }

  @Override
  public void nextDueChanged() {
    due.lookSoon();
  }

  @Override
  public void everythingChanged() {
    due.lookSoon();
    serve.run(() -> fetches.changed(shard -> true));
  }
}
