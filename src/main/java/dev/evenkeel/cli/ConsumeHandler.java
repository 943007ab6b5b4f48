package dev.evenkeel.cli;

import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.ShardContext;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * The handler behind {@code consume}: lets no more than {@code --max} messages through, knows since
 * when nothing happened, and says when it is time to leave. Belongs to the consumer's context.
 */
final class ConsumeHandler implements ConsumerHandler {
  private final Function<Delivery, Future<Void>> work;
  private final ExecWork commands;
  private final MaxGate gate;
  private final Runnable onComplete;
  private final LongSupplier nanoClock;

  private record Beyond(Delivery delivery, Promise<Void> end) {}

  /** Messages beyond the maximum. They are not refused before the end, or they would be retried. */
  private final List<Beyond> beyond = new ArrayList<>();

  private boolean leaving;

  private int running;
  private boolean assigned;
  private long quietSinceNanos;

  /**
   * @param max 0: no limit
   * @param attemptsMax a message that failed so often does not come again
   * @param onComplete called once when {@code max} messages are done
   */
  ConsumeHandler(
      Function<Delivery, Future<Void>> work,
      ExecWork commands,
      long max,
      int attemptsMax,
      Runnable onComplete,
      LongSupplier nanoClock) {
    this.work = work;
    this.commands = commands;
    this.gate = new MaxGate(max, attemptsMax);
    this.onComplete = onComplete;
    this.nanoClock = nanoClock;
  }

  @Override
  public Future<Void> handle(Delivery delivery) {
    if (!gate.admit(delivery)) {
      return refuse(delivery);
    }
    running++;
    return work.apply(delivery)
        .onComplete(
            done -> {
              running--;
              quietSinceNanos = nanoClock.getAsLong();
              if (done.succeeded()) {
                gate.succeeded(delivery);
                if (gate.complete()) {
                  onComplete.run();
                }
              } else {
                gate.failed(delivery);
                // What is to be tried again must find a free worker.
                refuseBeyond();
              }
            });
  }

  private Future<Void> refuse(Delivery delivery) {
    Promise<Void> promise = Promise.promise();
    beyond.add(new Beyond(delivery, promise));
    if (leaving || gate.retryPending()) {
      refuseBeyond();
    }
    return promise.future();
  }

  /** The consumer closes: messages beyond the maximum are given back, now and later. */
  void leave() {
    leaving = true;
    refuseBeyond();
  }

  private void refuseBeyond() {
    refuse(List.copyOf(beyond));
  }

  private void refuse(List<Beyond> some) {
    beyond.removeAll(some);
    GivenBackException reason = new GivenBackException("it lies beyond what --max asked for");
    some.forEach(each -> each.end().fail(reason));
  }

  @Override
  public boolean keepsState() {
    return commands.keepsState();
  }

  @Override
  public boolean givesState() {
    return commands.givesState();
  }

  /** What is not wanted here must not hold up the next owner, who may want it. */
  @Override
  public void onDraining(ShardContext shard) {
    refuse(
        beyond.stream()
            .filter(
                each ->
                    each.delivery().shard() == shard.shard()
                        && each.delivery().topic().equals(shard.topic()))
            .toList());
  }

  @Override
  public Future<Void> onAssign(ShardContext shard, Buffer state) {
    return commands.assign(shard, state).onSuccess(done -> assigned());
  }

  @Override
  public void onLeadership(LeaderContext leader) {
    commands.leads(leader);
  }

  @Override
  public void onLevel() {
    assigned();
  }

  private void assigned() {
    if (!assigned) {
      assigned = true;
      quietSinceNanos = nanoClock.getAsLong();
    }
  }

  @Override
  public void onDeclined(Delivery delivery) {
    gate.passed(delivery);
  }

  @Override
  public void onDropped(Delivery delivery) {
    gate.passed(delivery);
  }

  @Override
  public Future<Buffer> onRelease(ShardContext shard) {
    gate.shardGone(shard.topic(), shard.shard());
    return commands.release(shard);
  }

  @Override
  public void onLost(ShardContext shard) {
    gate.shardGone(shard.topic(), shard.shard());
    commands.lost(shard);
  }

  /**
   * Since when nothing came and nothing runs; 0 before the first assignment, or before a level
   * dispatcher has taken this member in, and at work.
   */
  long quietNanos() {
    return assigned && running == 0 ? Math.max(1, nanoClock.getAsLong() - quietSinceNanos) : 0;
  }
}
