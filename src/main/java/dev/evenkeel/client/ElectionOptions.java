package dev.evenkeel.client;

import dev.evenkeel.settings.Setting;
import dev.evenkeel.settings.SettingValues;
import dev.evenkeel.settings.Settings;
import io.vertx.core.json.JsonObject;

/**
 * Options of a candidate of an election. They can be read from JSON and written as JSON ({@link
 * #toJson}); the keys are the names of the setters without "set".
 */
public final class ElectionOptions extends SettingValues<ElectionOptions> {
  private static final Settings SETTINGS = new Settings("election option");

  private static final Setting<String> NAME =
      SETTINGS.text("name").help("Name of the election. It is a group without topics.");
  private static final Setting<String> MEMBER =
      SETTINGS
          .text("member")
          .help("Name of this candidate, unique in the election (default: generated).");
  private static final Setting<Long> LOCK_TIME =
      SETTINGS
          .time("lockTimeMillis")
          .unless(50_000L)
          .within(0, 3_600_000)
          .help("How long the next leader waits at most until this candidate has handed over.");
  private static final Setting<Long> PAUSE =
      SETTINGS
          .time("pauseMillis")
          .unless(1_000L)
          .within(0, 86_400_000)
          .help("The time between the end of a call of execute and the next call.");

  /** All settings of a candidate. */
  public static Settings settings() {
    return SETTINGS;
  }

  /** Options with their defaults. They still need a name. */
  public ElectionOptions() {
    super(SETTINGS);
  }

  /**
   * Options from JSON; what it leaves out has its default.
   *
   * @throws dev.evenkeel.protocol.RefusedException INVALID for an unknown key or a bad value
   */
  public ElectionOptions(JsonObject json) {
    super(SETTINGS, json);
  }

  /** See {@link #setName}. */
  public String getName() {
    return get(NAME);
  }

  /**
   * Name of the election: as the name of a group. All candidates that name it compete. No group of
   * consumers can have the same name.
   */
  public ElectionOptions setName(String name) {
    return set(NAME, name);
  }

  /** See {@link #setMember}. */
  public String getMember() {
    return get(MEMBER);
  }

  /**
   * Name of this candidate, unique in the election; null, the default, for a generated one. Of two
   * candidates with one name, the later one stays, and the other ends with MEMBER_REPLACED.
   */
  public ElectionOptions setMember(String member) {
    return set(MEMBER, member);
  }

  /** See {@link #setLockTimeMillis}. */
  public long getLockTimeMillis() {
    return get(LOCK_TIME);
  }

  /**
   * How long the next leader waits at most until this one has handed over, in milliseconds: 0 to
   * 3,600,000, by default 50,000.
   */
  public ElectionOptions setLockTimeMillis(long millis) {
    return set(LOCK_TIME, millis);
  }

  /** See {@link #setPauseMillis}. */
  public long getPauseMillis() {
    return get(PAUSE);
  }

  /**
   * The time between the end of a call of {@link ElectionCareer#execute} and the next call, in
   * milliseconds: 0 to 86,400,000, by default 1,000. With 0 the futures of the calls alone set the
   * rate.
   */
  public ElectionOptions setPauseMillis(long millis) {
    return set(PAUSE, millis);
  }
}
