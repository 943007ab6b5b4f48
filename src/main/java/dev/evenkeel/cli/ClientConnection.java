package dev.evenkeel.cli;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Connects commands to the cluster. Its methods block: call them on the main thread. */
public final class ClientConnection {
  private static final long CLOSE_MILLIS_MAX = 5_000;

  private ClientConnection() {}

  /**
   * @throws CommandFailure if no node answers within the connect timeout of the options
   */
  public static EvenkeelClient connect(ClientOptions options) {
    try {
      return await(Evenkeel.connect(options));
    } catch (CommandFailure e) {
      boolean malformed =
          e.getCause() instanceof RefusedException refused && refused.refusal() == Refusal.INVALID;
      throw malformed ? CommandFailure.usage("--cluster: " + e.getMessage()) : e;
    }
  }

  /** What a command does as a client of the cluster. */
  @FunctionalInterface
  public interface Work {
    /** Does the work; gives the exit status. */
    int run(EvenkeelClient client) throws Exception;
  }

  /**
   * Connects, works and closes the connection, and tells the signal how the command ended.
   *
   * @throws CommandFailure if no node answers within the connect timeout of the options
   */
  public static int run(ClientOptions options, StopSignal signal, Work work) throws Exception {
    int status = ExitStatus.FAILED;
    try {
      EvenkeelClient client = connect(options);
      try {
        status = work.run(client);
      } finally {
        close(client);
      }
    } finally {
      signal.ended(status);
    }
    return status;
  }

  /** Waits for a result; throws a {@link CommandFailure} if the future fails. */
  public static <T> T await(Future<T> future) {
    try {
      return future.toCompletionStage().toCompletableFuture().get();
    } catch (ExecutionException e) {
      throw CommandErrors.failure(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CommandFailure.failed("interrupted", e);
    }
  }

  /** Closes the client; gives up after 5 s, because the process ends anyway. */
  public static void close(EvenkeelClient client) {
    try {
      client
          .close()
          .toCompletionStage()
          .toCompletableFuture()
          .get(CLOSE_MILLIS_MAX, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // The process ends, so nothing depends on it.
      return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
