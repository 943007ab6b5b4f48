package dev.evenkeel.client;

import dev.evenkeel.settings.Setting;
import dev.evenkeel.settings.SettingValues;
import dev.evenkeel.settings.Settings;
import io.vertx.core.json.JsonObject;

/**
 * Options of a {@link Dedup}. They can be read from JSON and written as JSON ({@link #toJson}), as
 * Vert.x options can; the keys are the names of the setters without "set".
 */
public final class DedupOptions extends SettingValues<DedupOptions> {
  /** Longest key, in bytes of UTF-8. */
  public static final int KEY_BYTES_MAX = 1_024;

  private static final Settings SETTINGS = new Settings("dedup option");

  private static final Setting<String> NAME =
      SETTINGS.text("name").help("Name of the dedup. Programs with one name share its keys.");
  private static final Setting<Long> TIMEOUT =
      SETTINGS.time(
          "timeoutMillis",
          60_000,
          1_000,
          86_400_000,
          "A claim that works longer loses its key, and the waiting one begins.");
  private static final Setting<Integer> CLAIMS_MAX =
      SETTINGS.integer(
          "claimsMax",
          10_000,
          1,
          1_000_000,
          "Most claims at once that work or wait. Further ones are refused with OVERLOADED.");

  /** All settings of a dedup. */
  public static Settings settings() {
    return SETTINGS;
  }

  /** Options with their defaults, and no name. */
  public DedupOptions() {
    super(SETTINGS);
  }

  /**
   * Options from JSON; what it leaves out has its default.
   *
   * @throws dev.evenkeel.protocol.RefusedException INVALID for an unknown key or a bad value
   */
  public DedupOptions(JsonObject json) {
    super(SETTINGS, json);
  }

  /** See {@link #setName}. */
  public String getName() {
    return get(NAME);
  }

  /**
   * Name of the dedup: letters, digits, dot, underscore and hyphen. Programs that use one name
   * share its keys; equal keys under another name have nothing to do with them. In a secured
   * cluster it needs the permission {@code group:NAME}. {@link Dedup#local} needs no name.
   */
  public DedupOptions setName(String name) {
    return set(NAME, name);
  }

  /** See {@link #setTimeoutMillis}. */
  public long getTimeoutMillis() {
    return get(TIMEOUT);
  }

  /**
   * A claim that works longer than this loses its key, and the one that waits begins. From 1,000 to
   * 86,400,000 milliseconds, by default 60 seconds. It must be longer than the slowest work;
   * otherwise two work on one key at once. {@link DedupClaim#lost} tells the claim of it.
   */
  public DedupOptions setTimeoutMillis(long timeoutMillis) {
    return set(TIMEOUT, timeoutMillis);
  }

  /** See {@link #setClaimsMax}. */
  public int getClaimsMax() {
    return get(CLAIMS_MAX);
  }

  /**
   * Most claims of this object that work or wait at once: 1 to 1,000,000, by default 10,000.
   * Further ones are refused with OVERLOADED.
   */
  public DedupOptions setClaimsMax(int claimsMax) {
    return set(CLAIMS_MAX, claimsMax);
  }
}
