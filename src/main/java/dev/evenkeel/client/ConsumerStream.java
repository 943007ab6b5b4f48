package dev.evenkeel.client;

import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.streams.ReadStream;

/**
 * A consumer as a stream of messages.
 *
 * <p>With {@code finishing} AUTOMATIC a message is finished when the stream's handler has returned,
 * and tried again if it threw. With MANUAL it is finished by {@link #finish} and tried again after
 * {@link #fail}; at most {@code parallel} messages are unfinished at a time, and no further ones
 * come while they are. The order is that of the options.
 *
 * <p>In mode level a stream that is paused, or whose messages are not finished, holds the others of
 * the group back, until the member is set aside: then what is unfinished here is dealt to others,
 * and finishing it has no effect.
 *
 * <p>With dedup a message that is unfinished keeps its key from others, also while the stream is
 * paused, until the dedup timeout.
 *
 * <p>The stream's handlers run on the consumer's context; its methods may be called from anywhere.
 * What is unfinished when a shard is lost, or when the stream is closed, comes again to the next
 * owner.
 */
public interface ConsumerStream extends ReadStream<Delivery> {
  /** Who says that a message is finished. */
  enum Finishing {
    /** The stream, when its handler has returned. */
    AUTOMATIC,
    /** The application, by {@link #finish} and {@link #fail}. */
    MANUAL
  }

  /** The consumer behind the stream. */
  Consumer consumer();

  /** The message is done. Nothing happens if it was finished or lost before. */
  void finish(Delivery delivery);

  /** The message could not be handled: it is tried again after a pause. */
  void fail(Delivery delivery, Throwable cause);

  /**
   * Leaves the group. Messages that nobody has asked for yet are given back at once; those that
   * were given out are awaited, as {@link Consumer#close} says.
   */
  Future<Void> close();

  /**
   * Sees the messages that dedup finished without the stream's handler; as {@link
   * ConsumerHandler#onDeclined}.
   */
  ConsumerStream declinedHandler(Handler<Delivery> handler);

  @Override
  ConsumerStream exceptionHandler(Handler<Throwable> handler);

  @Override
  ConsumerStream handler(Handler<Delivery> handler);

  @Override
  ConsumerStream pause();

  @Override
  ConsumerStream resume();

  @Override
  ConsumerStream fetch(long amount);

  @Override
  ConsumerStream endHandler(Handler<Void> handler);
}
