package dev.evenkeel.gateway.session;

import static dev.evenkeel.gateway.ConfiguredLimits.number;

import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;
import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.stream.Stream;

/**
 * Limits of a client port. In the configuration, every key may be left out.
 *
 * @param connectionsMax connections to the node: {@code connectionsMax}, 1 to 1,000,000, default
 *     20,000
 * @param halfOpenMax connections that have not said HELLO yet: {@code halfOpenMax}, 1 to 1,000,000,
 *     default 1,000
 * @param handshakeMillisMax time for HELLO: {@code handshakeMillisMax}, 50 to 600,000, default
 *     5,000
 * @param helloBytesMax longest body of a frame before WELCOME: {@code helloBytesMax}, 1,024 to
 *     1,048,576, default 16,384
 * @param bodyBytesMax longest body of a frame, in both directions: {@code bodyBytesMax}, 4,096 to
 *     67,108,864, default 4 MiB
 * @param requestsInFlightMax requests of a session without an answer: {@code requestsInFlightMax},
 *     1 to 1,000,000, default 20,000, because each busy shard of a consumer has a fetch, and a
 *     heartbeat must get through beside all of them
 * @param sessionBytesInFlightMax bytes of a session's requests without an answer, and of its large
 *     answers that are not sent yet: {@code sessionBytesInFlightMax}, at least bodyBytesMax,
 *     default 64 MiB
 * @param nodeBytesInFlightMax the same of all sessions, and 1 KiB more for each request: {@code
 *     nodeBytesInFlightMax}, at least bodyBytesMax + 1 KiB, default 256 MiB. Requests that have not
 *     come whole may take as much again
 * @param listeningMax addresses at which a connection listens: {@code listeningMax}, 1 to
 *     1,000,000, default 2,000
 * @param pushesQueuedMax pushes that wait for a connection that does not read: {@code
 *     pushesQueuedMax}, 1 to 1,000,000, default 1,000
 * @param pushBytesQueuedMax bytes of such pushes: {@code pushBytesQueuedMax}, at least
 *     bodyBytesMax, default 16 MiB
 * @param keepAliveMillis how often a client must send a frame; a connection that is silent, or
 *     takes no bytes, for three times as long is closed: {@code keepAliveMillis}, 50 to 600,000,
 *     default 5,000
 */
public record SessionLimits(
    int connectionsMax,
    int halfOpenMax,
    long handshakeMillisMax,
    int helloBytesMax,
    int bodyBytesMax,
    int requestsInFlightMax,
    long sessionBytesInFlightMax,
    long nodeBytesInFlightMax,
    int listeningMax,
    int pushesQueuedMax,
    long pushBytesQueuedMax,
    long keepAliveMillis) {

  private static final long COUNT_MAX = 1_000_000;
  private static final long MILLIS_MIN = 50;
  private static final long MILLIS_MAX = 600_000;
  private static final long BODY_BYTES_MAX = 64 << 20;
  private static final long BYTES_MAX = 1L << 40;

  /** The limits of an empty configuration. */
  public static final SessionLimits DEFAULT = fromJson(new JsonObject());

  /** Keys of the configuration: the record's own names. */
  static List<String> keys() {
    return Stream.of(SessionLimits.class.getRecordComponents())
        .map(RecordComponent::getName)
        .toList();
  }

  /**
   * @throws RefusedException INVALID if a value is out of its bounds
   */
  static SessionLimits fromJson(JsonObject json) {
    int body = (int) number(json, "bodyBytesMax", 4 << 20, 4_096, BODY_BYTES_MAX);
    int request = body + Sessions.REQUEST_BYTES;
    return new SessionLimits(
        (int) number(json, "connectionsMax", 20_000, 1, COUNT_MAX),
        (int) number(json, "halfOpenMax", 1_000, 1, COUNT_MAX),
        number(json, "handshakeMillisMax", 5_000, MILLIS_MIN, MILLIS_MAX),
        (int) number(json, "helloBytesMax", 16 << 10, 1_024, 1 << 20),
        body,
        (int) number(json, "requestsInFlightMax", 20_000, 1, COUNT_MAX),
        number(json, "sessionBytesInFlightMax", Math.max(body, 64L << 20), body, BYTES_MAX),
        number(json, "nodeBytesInFlightMax", Math.max(request, 256L << 20), request, BYTES_MAX),
        (int) number(json, "listeningMax", 2_000, 1, COUNT_MAX),
        (int) number(json, "pushesQueuedMax", 1_000, 1, COUNT_MAX),
        number(json, "pushBytesQueuedMax", Math.max(body, 16L << 20), body, BYTES_MAX),
        number(json, "keepAliveMillis", 5_000, MILLIS_MIN, MILLIS_MAX));
  }

  /** A connection that is silent for longer is closed. */
  long silenceMillisMax() {
    return 3 * keepAliveMillis;
  }

  /** How often deadlines are checked. */
  long tickMillis() {
    return Math.min(1_000, Math.min(handshakeMillisMax, keepAliveMillis) / 5);
  }
}
