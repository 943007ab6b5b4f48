package dev.evenkeel;

import io.vertx.core.Future;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** Waits for futures in tests that do not run on an event loop. */
public final class Futures {
  /** A busy machine may hold up any thread for seconds; a wait costs only as long as it lasts. */
  private static final long SECONDS_MAX = 90;

  private Futures() {}

  /** The future's result; throws what the future failed with, checked or not. */
  public static <T> T await(Future<T> future) {
    return await(future.toCompletionStage());
  }

  /** The stage's result; throws what the stage failed with, checked or not. */
  public static <T> T await(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(SECONDS_MAX, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw Futures.<RuntimeException>unchecked(e.getCause());
    } catch (Exception e) {
      throw new AssertionError("no result within " + SECONDS_MAX + " s", e);
    }
  }

  @SuppressWarnings("unchecked")
  private static <E extends Throwable> E unchecked(Throwable failure) throws E {
    throw (E) failure;
  }
}
