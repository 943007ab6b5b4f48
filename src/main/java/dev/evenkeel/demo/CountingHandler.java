package dev.evenkeel.demo;

import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.ShardContext;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.HashMap;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * What a consumer of the demo does: works a little on each message and counts those of each shard.
 * The count is the shard's state: it travels with the shard. Belongs to the consumer's context.
 */
public final class CountingHandler implements ConsumerHandler {
  /** The work on one message takes from 1 ms to this. */
  private static final int WORK_MILLIS_MAX = 4;

  /** Hears how far the count was of a shard that comes. */
  @FunctionalInterface
  public interface Arrivals {
    void arrived(int shard, long count);
  }

  private final Vertx vertx;
  private final RandomGenerator random;
  private final Arrivals arrivals;
  private final Map<Integer, Long> counts = new HashMap<>();

  public CountingHandler(Vertx vertx, RandomGenerator random, Arrivals arrivals) {
    this.vertx = vertx;
    this.random = random;
    this.arrivals = arrivals;
  }

  @Override
  public Future<Void> handle(Delivery delivery) {
    Promise<Void> done = Promise.promise();
    vertx.setTimer(
        1 + random.nextInt(WORK_MILLIS_MAX),
        timer -> {
          counts.merge(delivery.shard(), 1L, Long::sum);
          done.complete();
        });
    return done.future();
  }

  @Override
  public Future<Void> onAssign(ShardContext shard, Buffer state) {
    long count = state == null || state.length() == 0 ? 0 : Long.parseLong(state.toString());
    counts.put(shard.shard(), count);
    arrivals.arrived(shard.shard(), count);
    return Future.succeededFuture();
  }

  @Override
  public Future<Buffer> onRelease(ShardContext shard) {
    Long count = counts.remove(shard.shard());
    return Future.succeededFuture(Buffer.buffer(Long.toString(count == null ? 0 : count)));
  }

  @Override
  public void onLost(ShardContext shard) {
    counts.remove(shard.shard());
  }
}
