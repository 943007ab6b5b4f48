package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.internal.consume.MessageSource;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

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

  private final OwnContext context;
  private final Runnable turn;
  private final String member;
  private MessageSource<T> source;
  private final BiFunction<? super T, Delivery, Future<Void>> handler;

  /** Null: the handler takes single messages only. */
  private final Function<List<Delivery>, Future<Void>> batchHandler;

  private final int batchMessagesMax;
  private final LoopClock clock = new LoopClock();
  private boolean scheduled;

  /**
   * @param turn does everything that can be done now
   */
  MessageLoop(
      MemberRun run,
      Runnable turn,
      MessageSource<T> source,
      BiFunction<? super T, Delivery, Future<Void>> handler) {
    this(run, turn, source, handler, null);
  }

  /**
   * @param batchHandler gets all messages but those that the source hands out alone; null: there is
   *     none
   */
  MessageLoop(
      MemberRun run,
      Runnable turn,
      MessageSource<T> source,
      BiFunction<? super T, Delivery, Future<Void>> handler,
      Function<List<Delivery>, Future<Void>> batchHandler) {
    context = run.context();
    this.turn = turn;
    member = run.options().getMember();
    this.source = source;
    this.handler = handler;
    this.batchHandler = batchHandler;
    batchMessagesMax = run.options().getBatchMessages();
  }

  /** Takes messages from another source from now on, which also learns how those end that began. */
  void use(MessageSource<T> other) {
    source = other;
  }

  /**
   * Handles messages while there are any, for one turn of the event loop.
   *
   * @param act carries out what the core wants before each message; false: the consumer has ended
   */
  void run(BooleanSupplier act) {
    clock.begin();
    long until = clock.nanos() + TURN_NANOS_MAX;
    int messages = 0;
    while (act.getAsBoolean()) {
      T task = source.next(clock.millis());
      if (task == null) {
        return;
      }
      int some = batchHandler == null || task.goesAlone() ? handle(task) : handleBatch(task);
      clock.passed(some);
      messages += some;
      if (messages >= TURN_MESSAGES_MAX || clock.nanos() >= until) {
        schedule();
        return;
      }
    }
  }

  /** A message that was handed out does not begin. */
  void giveBack(T task) {
    source.failed(task, new GivenBackException("it has not begun"), Clock.millis());
  }

  private void schedule() {
    if (!scheduled) {
      scheduled = true;
      context.later(
          () -> {
            scheduled = false;
            turn.run();
          });
    }
  }

  /** Returns how many messages were handled: one. */
  private int handle(T task) {
    Delivery delivery = task.delivery(member);
    Future<Void> result;
    try {
      result = notNull(handler.apply(task, delivery));
    } catch (Throwable e) {
      result = Future.failedFuture(e);
    }
    if (result.succeeded()) {
      source.finished(task, clock.millis());
    } else if (result.failed()) {
      clock.read();
      source.failed(task, result.cause(), clock.millis());
    } else {
      delivery.message().detach();
      await(
          result,
          failure -> {
            if (failure == null) {
              source.finished(task, Clock.millis());
            } else {
              source.failed(task, failure, Clock.millis());
            }
          });
    }
    return 1;
  }

  /** Handles a message together with those behind it. Returns how many they are. */
  private int handleBatch(T first) {
    List<T> tasks = new ArrayList<>();
    List<Delivery> deliveries = new ArrayList<>();
    for (T task = first; task != null; task = nextWith(first, tasks.size())) {
      tasks.add(task);
      deliveries.add(task.delivery(member));
    }
    List<Delivery> batch = Collections.unmodifiableList(deliveries);
    Future<Void> result;
    try {
      result = notNull(batchHandler.apply(batch));
    } catch (Throwable e) {
      result = Future.failedFuture(e);
    }
    if (result.isComplete()) {
      clock.read();
      source.batchEnded(tasks, result.cause(), clock.millis());
    } else {
      deliveries.forEach(delivery -> delivery.message().detach());
      await(result, failure -> source.batchEnded(tasks, failure, Clock.millis()));
    }
    return tasks.size();
  }

  private T nextWith(T first, int taken) {
    return taken < batchMessagesMax ? source.nextWith(first, clock.millis()) : null;
  }

  static Future<Void> notNull(Future<Void> result) {
    if (result == null) {
      throw new NullPointerException("the handler returned null instead of a future");
    }
    return result;
  }

  private void await(Future<Void> result, Consumer<Throwable> ended) {
    result.onComplete(
        done ->
            context.run(
                () -> {
                  ended.accept(done.cause());
                  turn.run();
                }));
  }
}
