package dev.evenkeel.dispatcher;

import dev.evenkeel.dispatcher.core.DispatcherSettings;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.settings.SettingValues;
import dev.evenkeel.settings.Settings;
import io.vertx.core.json.JsonObject;

/** Configuration of the dispatcher's verticle, as JSON. */
public final class DispatcherOptions extends SettingValues<DispatcherOptions> {
  /** All of them. */
  public static final Settings SETTINGS = new Settings("configuration key");

  public static final Setting<Long> TICK_MILLIS =
      SETTINGS
          .time("tickMillis")
          .unless(250L)
          .from(50)
          .to(1_000)
          .help("How often the dispatcher checks timeouts and leadership.");

  public static final Setting<Long> REBALANCE_MILLIS =
      SETTINGS
          .time("rebalanceMillis")
          .unless(5_000L)
          .from(100)
          .to(600_000)
          .help("How often the dispatcher plans all shards again.");

  public static final Setting<Long> MEMBER_TIMEOUT_MILLIS =
      SETTINGS
          .time("memberTimeoutMillis")
          .unless(5_000L)
          .from(100)
          .to(600_000)
          .help("How long a new dispatcher waits for owners that it only knows from the log.");

  public static final Setting<Long> REQUEST_TIMEOUT_MILLIS =
      SETTINGS
          .time("requestTimeoutMillis")
          .unless(5_000L)
          .from(100)
          .to(60_000)
          .help("The longest wait for the answer of a broker.");

  public static final Setting<Long> START_MILLIS_MAX =
      SETTINGS
          .time("startMillisMax")
          .unless(10_000L)
          .from(0)
          .to(600_000)
          .help(
              "How long a new dispatcher waits for data groups without a leader before it begins"
                  + " without their leases.");

  public static final Setting<Long> JOIN_QUIET_MILLIS =
      SETTINGS
          .time("joinQuietMillis")
          .unless(100L)
          .from(0)
          .to(10_000)
          .help(
              "After a member joins, the dispatcher waits until none has joined for this time, then"
                  + " plans.");

  public static final Setting<Long> JOIN_WAIT_MILLIS_MAX =
      SETTINGS
          .time("joinWaitMillisMax")
          .unless(1_000L)
          .from(0)
          .to(60_000)
          .help("The longest such wait, counted from the first member.");

  /** Up to 100 years. */
  public static final Setting<Long> GROUP_FORGET_MILLIS =
      SETTINGS
          .time("groupForgetMillis")
          .unless(7L * 24 * 3_600_000)
          .from(1_000)
          .to(3_153_600_000_000L)
          .help(
              "The dispatcher forgets a group that has no members for this time; only time counts in"
                  + " which a dispatcher was active.");

  /** Those of a dispatcher without a configuration. */
  public static final DispatcherSettings DEFAULTS =
      new DispatcherOptions(new JsonObject()).settings();

  /**
   * @throws RefusedException INVALID for an unknown key, or a value that is wrong
   */
  public DispatcherOptions(JsonObject json) {
    super(SETTINGS, json);
    check();
  }

  DispatcherSettings settings() {
    long forget = get(GROUP_FORGET_MILLIS);
    return new DispatcherSettings(
        get(REBALANCE_MILLIS),
        get(MEMBER_TIMEOUT_MILLIS),
        Math.min(DispatcherSettings.RETRY_MILLIS, get(REBALANCE_MILLIS)),
        // Often enough that no group with members is ever taken for absent.
        Math.min(DispatcherSettings.GROUP_SEEN_MILLIS, forget / 8),
        forget,
        get(JOIN_QUIET_MILLIS),
        get(JOIN_WAIT_MILLIS_MAX));
  }
}
