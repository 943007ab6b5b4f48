package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.machine.DataListener;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.Vertx;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Carries what a data group's state tells, on the applying thread, to the fetches that wait and to
 * whoever listens on the event bus. Many changes of shards become one turn of the context.
 */
final class Announcer implements DataListener {
  private final LogGroupServer group;
  private final FetchService fetches;
  private final Vertx vertx;
  private final Executor context;
  private final DueTimer due;
  private final Set<Shard> changed = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean scheduled = new AtomicBoolean();

  Announcer(
      LogGroupServer group, FetchService fetches, Vertx vertx, Executor context, DueTimer due) {
    this.group = group;
    this.fetches = fetches;
    this.vertx = vertx;
    this.context = context;
    this.due = due;
  }

  @Override
  public void shardChanged(Shard shard) {
    changed.add(shard);
    if (scheduled.compareAndSet(false, true)) {
      context.execute(this::wake);
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
    announce(
        former.shard(),
        new LeaseChange(
            former.group(), former.shard(), former.epoch(), null, null, former.committed()));
  }

  @Override
  public void retriesAdded(LeaseKey key) {
    context.execute(() -> fetches.retriesAdded(key));
  }

  private void announce(Shard shard, LeaseChange change) {
    context.execute(
        () -> {
          fetches.shardChanged(shard);
          if (group.nodeId().equals(group.log().leadership().leader())) {
            vertx.eventBus().publish(Addresses.LEASE_CHANGES, change.toJson());
          }
        });
  }

  @Override
  public void nextDueChanged() {
    due.tell();
  }

  @Override
  public void everythingChanged() {
    due.tell();
    context.execute(() -> fetches.changed(shard -> true));
  }
}
