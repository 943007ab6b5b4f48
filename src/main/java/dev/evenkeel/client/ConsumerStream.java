package dev.evenkeel.client;

import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.streams.ReadStream;

/**
 * A consumer as a Vert.x stream of messages, made by {@link EvenkeelClient#stream}. Messages flow
 * as soon as {@link #handler} is set; {@link #pause}, {@link #fetch} and {@link #resume} work as
 * for every Vert.x stream.
 *
 * <p>With {@link Finishing#AUTOMATIC} a message is finished when the stream's handler has returned,
 * and tried again if the handler threw. With {@link Finishing#MANUAL} the application calls {@link
 * #finish} or {@link #fail}; at most {@link ConsumerOptions#setParallel} messages are unfinished at
 * a time, and no further ones come while they are. Messages come in the order of {@link
 * ConsumerOptions#setOrder}.
 *
 * <p>The stream's handlers run on the consumer's context. Its methods may be called from any
 * thread. Messages that are unfinished when a shard is lost, or when the stream is closed, come
 * again to the next owner.
 *
 * <p>In mode level a stream that is paused, or whose messages are not finished, holds up the other
 * members of the group until its member is set aside. Its unfinished messages then go to other
 * members, and finishing them here has no effect.
 *
 * <p>With dedup an unfinished message keeps its key from other messages, also while the stream is
 * paused, until the dedup timeout.
 */
public interface ConsumerStream extends ReadStream<Delivery> {
  /** When a message is finished. */
  enum Finishing {
    /** When the stream's handler has returned. */
    AUTOMATIC,
    /** When the application calls {@link #finish}. */
    MANUAL
  }

  /** The consumer behind the stream. */
  Consumer consumer();

  /**
   * Finishes a message, with {@link Finishing#MANUAL}. Has no effect if the message was finished,
   * failed or lost before.
   */
  void finish(Delivery delivery);

  /**
   * Fails a message, with {@link Finishing#MANUAL}: it is tried again, or becomes a dead letter, as
   * the options say. Has no effect if the message was finished, failed or lost before.
   */
  void fail(Delivery delivery, Throwable cause);

  /**
   * Leaves the group. Messages that the handler has not got yet are given back at once. The stream
   * waits for those that it has got, as {@link Consumer#close} does.
   */
  Future<Void> close();

  /**
   * Sets the handler of messages that dedup finished without the stream's handler. See {@link
   * ConsumerHandler#onDeclined}.
   */
  ConsumerStream declinedHandler(Handler<Delivery> handler);

  /** Sets the handler that is called if the consumer ends by itself: see {@link Consumer#onEnd}. */
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

  /** Sets the handler that is called once, when the stream was closed or the consumer has ended. */
  @Override
  ConsumerStream endHandler(Handler<Void> handler);
}
