package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.internal.consume.MessageSource;
import io.vertx.core.Future;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;

/**
 * Hands messages to the handler, and reports to their source how they ended.
 *
 * <p>A handler whose future is complete when it returns costs no hop and no timer: the loop takes
 * messages until it has handled {@link #TURN_MESSAGES_MAX} of them or {@link #TURN_NANOS_MAX} have
 * passed, and then gives the event loop back.
 *
 * @param <T> what the source gives
 */
final class MessageLoop<T extends MessageSource.Handed> {
  /** Most messages that are handled before the event loop gets its turn. */
  private static final int TURN_MESSAGES_MAX = 1_000;

  private static final long TURN_NANOS_MAX = 5_000_000;

  private final ConsumerShell consumer;
  private final MessageSource<T> source;
  private final BiFunction<? super T, Delivery, Future<Void>> handler;
  private boolean scheduled;

  MessageLoop(
      ConsumerShell consumer,
      MessageSource<T> source,
      BiFunction<? super T, Delivery, Future<Void>> handler) {
    this.consumer = consumer;
    this.source = source;
    this.handler = handler;
  }

  /**
   * Handles messages while there are any, for one turn of the event loop.
   *
   * @param act carries out what the core wants before each message; false: the consumer has ended
   */
  void run(BooleanSupplier act) {
    long begin = Clock.nanos();
    long now = begin;
    int messages = 0;
    while (act.getAsBoolean()) {
      T task = source.next(now / 1_000_000);
      if (task == null) {
        return;
      }
      now = handle(task);
      if (++messages >= TURN_MESSAGES_MAX || now - begin >= TURN_NANOS_MAX) {
        schedule();
        return;
      }
    }
  }

  private void schedule() {
    if (!scheduled) {
      scheduled = true;
      consumer.context.later(
          () -> {
            scheduled = false;
            consumer.turn();
          });
    }
  }

  /** Returns the time after it: the clock is read once a message. */
  private long handle(T task) {
    Future<Void> result;
    try {
      Delivery delivery = task.delivery(consumer.member());
      result = handler.apply(task, delivery);
      if (result == null) {
        throw new NullPointerException("the handler returned null instead of a future");
      }
    } catch (Throwable e) {
      return done(task, e);
    }
    if (result.isComplete()) {
      return done(task, result.cause());
    }
    result.onComplete(
        ended ->
            consumer.context.run(
                () -> {
                  done(task, ended.cause());
                  consumer.turn();
                }));
    return Clock.nanos();
  }

  private long done(T task, Throwable failure) {
    long now = Clock.nanos();
    if (failure == null) {
      source.finished(task, now / 1_000_000);
    } else {
      source.failed(task, failure, now / 1_000_000);
    }
    return now;
  }
}
