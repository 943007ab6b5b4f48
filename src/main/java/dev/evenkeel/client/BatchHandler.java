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
 * #handle(Delivery)} to treat it in another way. See {@link ConsumerHandler#handleBatch} for what a
 * batch is, and for the options that go with it.
 */
@FunctionalInterface
public interface BatchHandler extends ConsumerHandler {
  @Override
  Future<Void> handleBatch(List<Delivery> batch);

  @Override
  @SuppressWarnings("FunctionalInterfaceMethodChanged")
  default Future<Void> handle(Delivery delivery) {
    return handleBatch(List.of(delivery));
  }

  @Override
  default boolean handlesBatches() {
    return true;
  }
}
