package dev.evenkeel.gateway.http;

import static dev.evenkeel.gateway.ConfiguredLimits.number;

import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;
import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.stream.Stream;

/**
 * Limits of the HTTP port. In the configuration, every key may be left out.
 *
 * @param connectionsMax open connections, without WebSockets: {@code connectionsMax}, 1 to
 *     1,000,000, default 1,000
 * @param bytesInFlightMax bytes of all request bodies whose requests are not answered yet: {@code
 *     bytesInFlightMax}, at least 8 MiB, which is the largest body, default 32 MiB
 * @param requestMillisMax time for a request to arrive whole: {@code requestMillisMax}, 50 to
 *     600,000, default 30,000
 * @param idleMillisMax time from an answer to the next request on the same connection: {@code
 *     idleMillisMax}, 50 to 120,000, default 120,000
 */
public record HttpLimits(
    int connectionsMax, long bytesInFlightMax, long requestMillisMax, long idleMillisMax) {

  private static final long MILLIS_MIN = 50;
  private static final long MILLIS_MAX = 600_000;

  /** The node closes a connection that is idle for this time. */
  static final int IDLE_MILLIS_MAX = 120_000;

  private static final long BYTES_MAX = 1L << 40;

  /** The limits of an empty configuration. */
  public static final HttpLimits DEFAULT = fromJson(new JsonObject());

  /** Keys of the configuration: the record's own names. */
  static List<String> keys() {
    return Stream.of(HttpLimits.class.getRecordComponents()).map(RecordComponent::getName).toList();
  }

  /**
   * @throws RefusedException INVALID if a value is out of its bounds
   */
  static HttpLimits fromJson(JsonObject json) {
    return new HttpLimits(
        (int) number(json, "connectionsMax", 1_000, 1, 1_000_000),
        number(json, "bytesInFlightMax", 32 << 20, ProduceRoute.MESSAGES_BYTES_MAX, BYTES_MAX),
        number(json, "requestMillisMax", 30_000, MILLIS_MIN, MILLIS_MAX),
        number(json, "idleMillisMax", IDLE_MILLIS_MAX, MILLIS_MIN, IDLE_MILLIS_MAX));
  }

  /** How often deadlines are checked. */
  long tickMillis() {
    return Math.min(1_000, Math.min(requestMillisMax, idleMillisMax) / 5);
  }
}
