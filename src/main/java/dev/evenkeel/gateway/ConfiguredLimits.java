package dev.evenkeel.gateway;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;

/** Reads limits from the configuration of a verticle. */
public final class ConfiguredLimits {
  private ConfiguredLimits() {}

  /**
   * A number within its bounds, or {@code unset} if the key is missing.
   *
   * @throws RefusedException INVALID if the value is no number, or out of its bounds
   */
  public static long number(JsonObject json, String key, long unset, long min, long max) {
    Object value = json.getValue(key, unset);
    if (!(value instanceof Number number) || number.longValue() < min || number.longValue() > max) {
      throw Refusal.INVALID.error(
          "%s of %s: it must be a number from %s to %s", key, value, min, max);
    }
    return number.longValue();
  }
}
