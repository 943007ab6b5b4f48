package dev.evenkeel.cli;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** How commands reach the cluster. Methods block: they are for the main thread. */
public final class ClientConnection {
  private static final long CLOSE_MILLIS_MAX = 5_000;

  private ClientConnection() {}

  /**
   * @param nodes HOST:PORT each
   * @throws CommandFailure if no node answers in time
   */
  public static EvenkeelClient connect(List<String> nodes) {
    return connect(new ClientOptions().setSeeds(nodes));
  }

  /**
   * @throws CommandFailure if no node answers in the time that the options give
   */
  static EvenkeelClient connect(ClientOptions options) {
    try {
      return await(Evenkeel.connect(options));
    } catch (CommandFailure e) {
      boolean malformed =
          e.getCause() instanceof RefusedException refused && refused.refusal() == Refusal.INVALID;
      throw malformed ? CommandFailure.usage("--cluster: " + e.getMessage()) : e;
    }
  }

  /** The future's result; a failed one is a failed command. */
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

  /** Leaves the cluster, or gives up trying to after a while: the process ends anyway. */
  public static void close(EvenkeelClient client) {
    try {
      client
          .close()
          .toCompletionStage()
          .toCompletableFuture()
          .get(CLOSE_MILLIS_MAX, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // Nothing depends on it any more.
      return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
