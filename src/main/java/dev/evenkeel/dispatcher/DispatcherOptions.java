package dev.evenkeel.dispatcher;

import dev.evenkeel.dispatcher.core.DispatcherSettings;
import dev.evenkeel.protocol.Nearest;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;
import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.stream.Stream;

/**
 * Configuration of the {@link DispatcherVerticle}, as JSON; every key may be left out.
 *
 * @param tickMillis how often timeouts and leadership are looked at: {@code tickMillis}, 50 to
 *     1,000, default 250
 * @param rebalanceMillis how often everything is read and planned again: {@code rebalanceMillis},
 *     100 to 600,000, default 5,000
 * @param memberTimeoutMillis how long an owner known only by its lease counts as alive: {@code
 *     memberTimeoutMillis}, 100 to 600,000, default 5,000
 * @param requestTimeoutMillis longest wait for a broker's answer: {@code requestTimeoutMillis}, 100
 *     to 60,000, default 5,000
 * @param startMillisMax how long a new dispatcher waits for data groups without a leader before it
 *     begins without their leases: {@code startMillisMax}, 0 to 600,000, default 10,000
 * @param joinQuietMillis members that come in a burst are planned for when none has come for so
 *     long: {@code joinQuietMillis}, 0 (at once) to 10,000, default 100
 * @param joinWaitMillisMax longest wait of such a plan, from the first member of the burst: {@code
 *     joinWaitMillisMax}, 0 to 60,000, default 1,000
 * @param groupForgetMillis a group without members for so long is forgotten; only time counts in
 *     which a dispatcher was active: {@code groupForgetMillis}, 1,000 to 3,153,600,000,000 (100
 *     years), default 604,800,000 (7 days)
 */
public record DispatcherOptions(
    long tickMillis,
    long rebalanceMillis,
    long memberTimeoutMillis,
    long requestTimeoutMillis,
    long startMillisMax,
    long joinQuietMillis,
    long joinWaitMillisMax,
    long groupForgetMillis) {

  /** Keys of its configuration: the record's own names. */
  public static List<String> keys() {
    return Stream.of(DispatcherOptions.class.getRecordComponents())
        .map(RecordComponent::getName)
        .toList();
  }

  /**
   * @throws RefusedException INVALID for an unknown key, or if a value is out of its bounds
   */
  public static DispatcherOptions fromJson(JsonObject json) {
    Nearest.requireKnown("configuration key", json.fieldNames(), keys());
    return new DispatcherOptions(
        number(json, "tickMillis", 250, 50, 1_000),
        number(json, "rebalanceMillis", 5_000, 100, 600_000),
        number(json, "memberTimeoutMillis", 5_000, 100, 600_000),
        number(json, "requestTimeoutMillis", 5_000, 100, 60_000),
        number(json, "startMillisMax", 10_000, 0, 600_000),
        number(json, "joinQuietMillis", 100, 0, 10_000),
        number(json, "joinWaitMillisMax", 1_000, 0, 60_000),
        number(json, "groupForgetMillis", 604_800_000L, 1_000, 3_153_600_000_000L));
  }

  private static long number(JsonObject json, String key, long unset, long min, long max) {
    Object value = json.getValue(key, unset);
    if (!(value instanceof Number number) || number.longValue() < min || number.longValue() > max) {
      throw new RefusedException(
          Refusal.INVALID,
          key + " of " + value + ": it must be a number from " + min + " to " + max);
    }
    return number.longValue();
  }

  DispatcherSettings settings() {
    return new DispatcherSettings(
        rebalanceMillis,
        memberTimeoutMillis,
        Math.min(DispatcherSettings.DEFAULT.retryMillis(), rebalanceMillis),
        // Often enough that no group with members is ever taken for absent.
        Math.min(DispatcherSettings.GROUP_SEEN_MILLIS, groupForgetMillis / 8),
        groupForgetMillis,
        joinQuietMillis,
        joinWaitMillisMax);
  }
}
