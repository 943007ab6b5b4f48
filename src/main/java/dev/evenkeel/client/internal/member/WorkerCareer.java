package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.LeaderCareer;
import dev.evenkeel.client.LeaderContext;
import io.vertx.core.Future;

/** A career whose methods that return futures run on {@link Workers}. */
record WorkerCareer(LeaderCareer career, Workers workers) implements LeaderCareer {
  @Override
  public Future<Void> inaugurate(LeaderContext context) {
    return workers.shard(() -> career.inaugurate(context));
  }

  @Override
  public Future<Void> execute(Delivery message) {
    message.message().detach();
    return workers.message(() -> MessageLoop.notNull(career.execute(message)));
  }

  @Override
  public Future<Void> handOver(LeaderContext context) {
    return workers.shard(() -> career.handOver(context));
  }

  @Override
  public void lost(LeaderContext context) {
    career.lost(context);
  }

  @Override
  public boolean isSerial() {
    return career.isSerial();
  }

  @Override
  public AtHand atHand() {
    return career.atHand();
  }
}
