package dev.evenkeel.cli;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
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
    return opened(Evenkeel.connect(options));
  }

  private static EvenkeelClient opened(Future<EvenkeelClient> client) {
    try {
      return await(client);
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
    return run(options, null, signal, work);
  }

  /**
   * As {@link #run(ClientOptions, StopSignal, Work)}, and closes {@code spans} at the end.
   *
   * @param spans null: there are none
   */
  static int run(ClientOptions options, SpanExport spans, StopSignal signal, Work work)
      throws Exception {
    int status = ExitStatus.FAILED;
    try (SpanExport closed = spans) {
      EvenkeelClient client = closed == null ? connect(options) : connect(options, closed);
      try {
        status = work.run(client);
      } finally {
        close(client);
        if (closed != null) {
          // The client leaves open what was given to it.
          client.vertx().close();
        }
      }
    } finally {
      signal.ended(status);
    }
    return status;
  }

  private static EvenkeelClient connect(ClientOptions options, SpanExport spans) {
    Vertx vertx = Vertx.builder().withTracer(spans.tracer()).build();
    return opened(Evenkeel.connect(vertx, options));
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
