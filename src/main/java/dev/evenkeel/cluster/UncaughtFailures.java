package dev.evenkeel.cluster;

import io.vertx.core.Handler;
import io.vertx.core.Promise;
import java.util.Arrays;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs what nobody has caught on a thread of Vert.x, as Vert.x does by itself, but for one: for
 * each message of the event bus that could not be written because its connection broke, Vert.x
 * 5.0.x (at least up to 5.0.12; 5.1 does not) throws "Promise already completed". Its {@code
 * OutboundDeliveryContext.tryFail} answers false although it has failed the promise of whoever
 * sent, and {@code Promise.fail} takes that for a second end. Nothing is lost by it, and peers come
 * and go.
 */
final class UncaughtFailures implements Handler<Throwable> {
  private static final Logger LOG = LoggerFactory.getLogger(UncaughtFailures.class);
  private static final String COMPLETED = "Promise already completed";

  /** Through one of them goes the outcome of each write. */
  private static final Set<String> WRITES =
      Set.of(
          "io.vertx.core.eventbus.impl.clustered.OutboundConnection",
          "io.vertx.core.net.impl.DelegatingChannelPromise");

  @Override
  public void handle(Throwable failure) {
    if (isOfBrokenConnection(failure)) {
      LOG.debug("a message was not written, as who sent it knows", failure);
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
