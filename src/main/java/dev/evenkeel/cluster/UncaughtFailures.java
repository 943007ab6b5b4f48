package dev.evenkeel.cluster;

import dev.evenkeel.util.LogLimiter;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import java.util.Arrays;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs exceptions that nobody caught on a thread of Vert.x, as Vert.x itself does, but for three
 * kinds.
 *
 * <p>What came over the event bus and cannot be read is logged once a minute: without TLS,
 * strangers could fill the disk with log lines.
 *
 * <p>So is what Vert.x 5.0.x throws when the end of an HTTP request comes after the server has
 * given the request up, because the one before it on the connection was malformed.
 *
 * <p>When a connection of the event bus breaks, Vert.x 5.0.x (at least up to 5.0.12, not 5.1)
 * throws "Promise already completed" for each message that it could not write: {@code
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

  private static final String MESSAGE = "io.vertx.core.eventbus.impl.clustered.ClusteredMessage";
  private static final Set<String> READING = Set.of("readFromWire", "decodeHeaders", "decodeBody");
  private static final String CONNECTION =
      "io.vertx.core.eventbus.impl.clustered.InboundConnection";

  private final LogLimiter malformed = new LogLimiter();

  @Override
  public void handle(Throwable failure) {
    if (isOfBrokenConnection(failure)) {
      LOG.debug("a message was not written, and its sender knows", failure);
    } else if (isOfMalformedMessage(failure)) {
      if (malformed.mayLog("event bus", MonotonicClock.millis())) {
        LOG.warn("what came over the event bus cannot be read: {}", failure.toString());
      }
    } else if (isOfMalformedRequest(failure)) {
      if (malformed.mayLog("HTTP", MonotonicClock.millis())) {
        LOG.warn("what came over HTTP cannot be read: {}", failure.toString());
      }
    } else {
      LOG.error("Unhandled exception", failure);
    }
  }

  /**
   * Whether Vert.x could not read what came over the event bus: no handler of ours has run then.
   */
  static boolean isOfMalformedMessage(Throwable failure) {
    StackTraceElement[] trace = failure.getStackTrace();
    for (int i = 0; i < trace.length; i++) {
      String name = trace[i].getClassName();
      if (name.equals(MESSAGE) && READING.contains(trace[i].getMethodName())) {
        return true;
      }
      if (name.equals(CONNECTION)) {
        // The parser refuses the length; anything else comes from whom the message is for.
        return i > 0 && trace[i - 1].getMethodName().equals("fixedSizeMode");
      }
    }
    return false;
  }

  /** Whether the end of an HTTP request came for which there is no request any more. */
  static boolean isOfMalformedRequest(Throwable failure) {
    StackTraceElement[] trace = failure.getStackTrace();
    return failure instanceof NullPointerException
        && trace.length > 0
        && trace[0].getClassName().equals("io.vertx.core.http.impl.Http1xServerConnection")
        && trace[0].getMethodName().equals("onEnd");
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
