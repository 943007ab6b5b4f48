package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.BatchHandler;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ContextHandler;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.MessageContext;
import dev.evenkeel.client.ParentState;
import dev.evenkeel.client.ShardContext;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.List;

/**
 * A handler whose methods that return futures run on {@link Workers}. The others stay on the
 * consumer's context. The kind and the dedup keys are those of the handler itself.
 */
final class WorkerHandler implements ContextHandler, BatchHandler {
  private final ConsumerHandler handler;
  private final Workers workers;

  WorkerHandler(ConsumerHandler handler, Workers workers) {
    this.handler = handler;
    this.workers = workers;
  }

  @Override
  public Future<Void> handle(Delivery delivery) {
    delivery.message().detach();
    return workers.message(() -> notNull(handler.handle(delivery)));
  }

  @Override
  public Future<Void> handle(Delivery delivery, MessageContext context) {
    delivery.message().detach();
    return workers.message(() -> notNull(((ContextHandler) handler).handle(delivery, context)));
  }

  @Override
  public Future<Void> handleBatch(List<Delivery> batch) {
    batch.forEach(each -> each.message().detach());
    return workers.message(() -> notNull(((BatchHandler) handler).handleBatch(batch)));
  }

  private static Future<Void> notNull(Future<Void> result) {
    return MessageLoop.notNull(result);
  }

  @Override
  public Future<Void> onAssign(ShardContext shard, Buffer state) {
    return workers.shard(() -> handler.onAssign(shard, state));
  }

  @Override
  public Future<Void> onAssignFromParents(ShardContext shard, List<ParentState> parents) {
    return workers.shard(() -> handler.onAssignFromParents(shard, parents));
  }

  @Override
  public Future<Buffer> onRelease(ShardContext shard) {
    return workers.shard(() -> handler.onRelease(shard));
  }

  @Override
  public void onLevel() {
    handler.onLevel();
  }

  @Override
  public void onLeadership(LeaderContext leader) {
    handler.onLeadership(leader);
  }

  @Override
  public void onDraining(ShardContext shard) {
    handler.onDraining(shard);
  }

  @Override
  public void onKept(ShardContext shard) {
    handler.onKept(shard);
  }

  @Override
  public void onCommitted(String topic, int shard, long offset) {
    handler.onCommitted(topic, shard, offset);
  }

  @Override
  public void onDeclined(Delivery delivery) {
    handler.onDeclined(delivery);
  }

  @Override
  public void onDropped(Delivery delivery) {
    handler.onDropped(delivery);
  }

  @Override
  public void onLost(ShardContext shard) {
    handler.onLost(shard);
  }
}
