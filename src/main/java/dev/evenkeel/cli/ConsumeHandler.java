package dev.evenkeel.cli;

import dev.evenkeel.consumer.ConsumerHandler;
import dev.evenkeel.consumer.Delivery;
import dev.evenkeel.consumer.ShardContext;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The handler behind {@code consume}: lets no more than {@code --max} messages through, knows since
 * when nothing happened, and says when it is time to leave. Belongs to the consumer's context.
 */
final class ConsumeHandler implements ConsumerHandler {
  private final MessageWork work;
  private final ExecWork commands;
  private final MaxGate gate;
  private final Runnable onComplete;
  private final LongSupplier nanoClock;

  /** Messages beyond the maximum. They are not refused before the end, or they would be retried. */
  private final List<Promise<Void>> beyond = new ArrayList<>();

  private int running;
  private boolean assigned;
  private long quietSinceNanos;

  /**
   * @param max 0: no limit
   * @param onComplete called once when {@code max} messages are done
   */
  ConsumeHandler(
      MessageWork work, ExecWork commands, long max, Runnable onComplete, LongSupplier nanoClock) {
    this.work = work;
    this.commands = commands;
    this.gate = new MaxGate(max);
    this.onComplete = onComplete;
    this.nanoClock = nanoClock;
  }

  @Override
  public Future<Void> handle(Delivery delivery) {
    if (!gate.admit(delivery)) {
      return refuse();
    }
    running++;
    return work.handle(delivery)
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

  private Future<Void> refuse() {
    Promise<Void> promise = Promise.promise();
    beyond.add(promise);
    if (gate.retryPending()) {
      refuseBeyond();
    }
    return promise.future();
  }

  /** Gives back messages beyond the maximum; call it once the consumer closes. */
  void refuseBeyond() {
    List<Promise<Void>> all = List.copyOf(beyond);
    beyond.clear();
    RefusedException reason =
        new RefusedException(Refusal.UNAVAILABLE, "it lies beyond what --max asked for");
    all.forEach(promise -> promise.fail(reason));
  }

  @Override
  public boolean keepsState() {
    return commands.keepsState();
  }

  @Override
  public Future<Void> onAssign(ShardContext shard, Buffer state) {
    return commands
        .assign(shard, state)
        .onSuccess(
            done -> {
              if (!assigned) {
                assigned = true;
                quietSinceNanos = nanoClock.getAsLong();
              }
            });
  }

  @Override
  public Future<Buffer> onRelease(ShardContext shard) {
    gate.shardGone(shard.topic(), shard.shard());
    return commands.release(shard);
  }

  @Override
  public void onLost(ShardContext shard) {
    gate.shardGone(shard.topic(), shard.shard());
  }

  /** Since when nothing came and nothing runs; 0 before the first assignment and at work. */
  long quietNanos() {
    return assigned && running == 0 ? Math.max(1, nanoClock.getAsLong() - quietSinceNanos) : 0;
  }
}
