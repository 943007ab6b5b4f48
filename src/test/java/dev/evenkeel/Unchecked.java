package dev.evenkeel;

import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Calls that may throw checked exceptions, where a test may not: an {@link IOException} becomes an
 * {@link UncheckedIOException}, and an interruption an {@link AssertionError}.
 */
public final class Unchecked {
  /** A call with a result. */
  public interface Call<T> {
    T call() throws IOException, InterruptedException;
  }

  /** A call without a result. */
  public interface Action {
    void run() throws IOException, InterruptedException;
  }

  private Unchecked() {}

  /** The result of the call. */
  public static <T> T get(Call<T> call) {
    try {
      return call.call();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** As {@link #get}, for what has no result. */
  public static void run(Action action) {
    get(
        () -> {
          action.run();
          return null;
        });
  }
}
