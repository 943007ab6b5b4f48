package dev.evenkeel.cluster;

import io.vertx.core.Handler;
import io.vertx.core.Promise;
import java.util.Arrays;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs exceptions that nobody caught on a thread of Vert.x, as Vert.x itself does, with one
 * exception. When a connection of the event bus breaks, Vert.x 5.0.x (at least up to 5.0.12, not
 * 5.1) throws "Promise already completed" for each message that it could not write: {@code
 * OutboundDeliveryContext.tryFail} fails the sender's promise but returns false, and {@code
 * Promise.fail} takes that for a second completion. The sender has learned of the failure, so it is
 * logged at level debug only.
 */
final class UncaughtFailures implements Handler<Throwable> {
  private static final Logger LOG = LoggerFactory.getLogger(UncaughtFailures.class);
  private static final String COMPLETED = "Promise already completed";

  /** Each write completes through one of these classes. */
  private static final Set<String> WRITES =
      Set.of(
          "io.vertx.core.eventbus.impl.clustered.OutboundConnection",
          "io.vertx.core.net.impl.DelegatingChannelPromise");

  @Override
  public void handle(Throwable failure) {
    if (isOfBrokenConnection(failure)) {
      LOG.debug("a message was not written, and its sender knows", failure);
    } else {
      LOG.error("Unhandled exception", failure);
    }
  }

  static boolean isOfBrokenConnection(Throwable failure) {
    StackTraceElement[] trace = failure.getStackTrace();
    return failure instanceof IllegalStateException
        && COMPLETED.equals(failure.getMessage())
        && trace.length > 1
        && isOfPromise(trace[0], "fail")
        && isOfPromise(trace[1], "complete")
        && Arrays.stream(trace).anyMatch(call -> WRITES.contains(call.getClassName()));
  }

  private static boolean isOfPromise(StackTraceElement call, String method) {
    return call.getClassName().equals(Promise.class.getName())
        && call.getMethodName().equals(method);
  }
}
