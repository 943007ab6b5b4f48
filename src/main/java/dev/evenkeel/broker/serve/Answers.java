package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.OVERLOADED;

import dev.evenkeel.bus.Asker;
import dev.evenkeel.bus.FrameCodec;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.Message;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/** Turns futures and failures into answers. */
public final class Answers {
  private Answers() {}

  /** Answers a message with the result of {@code handler}. Every failure becomes an answer too. */
  public static void answer(Message<Object> message, Function<Buffer, Future<Buffer>> handler) {
    answer(message, (request, asker) -> handler.apply(request), refusal -> {});
  }

  /**
   * The same, and counts refusals.
   *
   * @param handler gets the request, and who has sent it
   * @param refused called with each refusal
   */
  public static void answer(
      Message<Object> message,
      BiFunction<Buffer, Asker, Future<Buffer>> handler,
      Consumer<Refusal> refused) {
    Future<Buffer> result;
    try {
      if (!(message.body() instanceof Buffer request)) {
        throw INVALID.error("the body of a request is a buffer");
      }
      result = handler.apply(request, Asker.of(message.headers()));
    } catch (RuntimeException e) {
      result = Future.failedFuture(e);
    }
    result.onComplete(
        answer -> message.reply(answer, FrameCodec.options(answer)),
        failure -> {
          Throwable cause = unwrap(failure);
          // An empty request only asks whether this node answers.
          boolean empty = message.body() instanceof Buffer request && request.length() == 0;
          if (cause instanceof RefusedException known && !empty) {
            refused.accept(known.refusal());
          }
          message.reply(Frames.refusal(cause));
        });
  }

  /** The failure itself, without the exception that the JDK wraps around it. */
  public static Throwable unwrap(Throwable failure) {
    return failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }

  /**
   * Runs {@code task} on {@code executor}; the future completes on the caller's context.
   *
   * @return fails OVERLOADED if the executor takes no more tasks
   */
  static <T> Future<T> on(Vertx vertx, Executor executor, Callable<T> task) {
    Promise<T> promise = Promise.promise();
    Runnable run =
        () -> {
          try {
            promise.complete(task.call());
          } catch (Exception e) {
            promise.fail(e);
          }
        };
    try {
      executor.execute(run);
    } catch (RejectedExecutionException e) {
      return Future.failedFuture(OVERLOADED.error("too many reads wait for the disk"));
    }
    return Future.fromCompletionStage(
        promise.future().toCompletionStage(), vertx.getOrCreateContext());
  }
}
