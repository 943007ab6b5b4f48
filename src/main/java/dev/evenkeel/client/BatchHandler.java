package dev.evenkeel.client;

import io.vertx.core.Future;
import java.util.List;

/**
 * A {@link ConsumerHandler} that handles several messages at once. It suits work that is cheaper in
 * bulk, such as inserting rows into a database.
 *
 * <pre>{@code
 * BatchHandler insert = batch -> database.insertAll(batch).mapEmpty();
 * }</pre>
 *
 * <p>A message that is handled alone is a batch of one; a class may override {@link
 * #handle(Delivery)} to treat it in another way.
 *
 * <p>It needs order SHARD or NONE and at-least-once or effectively-once. It does not go with mode
 * LEVEL, dedup, a keyRate, or a {@link ContextHandler}; otherwise the consumer fails with INVALID.
 */
@FunctionalInterface
public interface BatchHandler extends ConsumerHandler {
  /**
   * Handles several messages of one shard, in their order. It is called with every message that is
   * tried for the first time; a batch has as many as have been fetched, up to {@link
   * ConsumerOptions#setBatchMessages}, and may have one. With order SHARD a shard has one batch at
   * a time.
   *
   * <p>All messages of the batch are finished when the future succeeds. If it fails, or if the
   * method throws, none is: then each of them goes to {@link #handle(Delivery)} alone, in their
   * order and at once. So whatever was done for some of them before the failure is done again. A
   * failed batch does not count as an attempt.
   *
   * @param batch at least one message; the list does not change
   * @return never null
   */
  Future<Void> handleBatch(List<Delivery> batch);

  @Override
  @SuppressWarnings("FunctionalInterfaceMethodChanged")
  default Future<Void> handle(Delivery delivery) {
    return handleBatch(List.of(delivery));
  }
}
