package dev.evenkeel.client;

import io.vertx.core.Future;

/**
 * Handles messages as objects; see {@link Serde#handler}.
 *
 * @param <T> type of the objects
 */
@FunctionalInterface
public interface TypedHandler<T> {
  /**
   * Handles a message, as {@link ConsumerHandler#handle(Delivery)} does.
   *
   * @param value what its payload stands for
   * @param delivery the message and where it came from
   */
  Future<Void> handle(T value, Delivery delivery);

  /**
   * Handles messages as objects, and may block; see {@link Serde#blockingHandler}.
   *
   * @param <T> type of the objects
   */
  @FunctionalInterface
  interface Blocking<T> {
    /**
     * Handles a message, as {@link BlockingHandler#run} does.
     *
     * @throws Exception if the message is to be tried again, as the options say
     */
    void run(T value, Delivery delivery) throws Exception;
  }
}
