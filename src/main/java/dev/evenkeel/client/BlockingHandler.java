package dev.evenkeel.client;

import io.vertx.core.Future;

/**
 * A {@link ConsumerHandler} whose code may block, as code that works with JDBC does. It runs on
 * worker threads; see {@link ConsumerOptions#setWorker}.
 *
 * <pre>{@code
 * BlockingHandler store = delivery -> database.insert(delivery.message().payload());
 * client.consumer(options, store);
 * }</pre>
 */
@FunctionalInterface
public interface BlockingHandler extends ConsumerHandler {
  /**
   * Handles a message. The message is finished when the method returns.
   *
   * @throws Exception if the message is to be tried again, as the options say
   */
  void run(Delivery delivery) throws Exception;

  @Override
  @SuppressWarnings("FunctionalInterfaceMethodChanged")
  default Future<Void> handle(Delivery delivery) {
    try {
      run(delivery);
      return Future.succeededFuture();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Future.failedFuture(e);
    } catch (Exception e) {
      return Future.failedFuture(e);
    }
  }
}
