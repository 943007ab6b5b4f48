package dev.evenkeel.client;

import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.settings.SettingValues;
import dev.evenkeel.settings.Settings;
import io.vertx.core.json.JsonObject;

/**
 * Options of {@link EvenkeelClient#coordinator(CoordinatorOptions)}: which coordinator, and how its
 * tracks behave. They can be read from JSON and written as JSON ({@link #toJson}), as Vert.x
 * options can; the keys are the names of the setters without "set".
 */
public final class CoordinatorOptions extends SettingValues<CoordinatorOptions> {
  private static final Settings SETTINGS = new Settings("coordinator option");

  private static final Setting<String> NAME =
      SETTINGS.text("name").help("Name of the coordinator.");
  private static final Setting<Integer> RANGE =
      SETTINGS
          .integer("range")
          .unless(GroupPolicy.RANGE_DEFAULT)
          .within(1, GroupPolicy.RANGE_MAX)
          .help("The largest difference between two tracks in steps.");
  private static final Setting<Long> MEMBER_TIMEOUT =
      SETTINGS
          .time("memberTimeoutMillis")
          .unless(Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT)
          .within(Limits.TRACK_TIMEOUT_MILLIS_MIN, Limits.TRACK_TIMEOUT_MILLIS_MAX)
          .help("The silence after which the others go on without a track.");
  private static final Setting<Long> IDLE =
      SETTINGS
          .time("idleMillis")
          .unless(5_000L)
          .within(100, 3_600_000)
          .help("How long others wait for a track that does not ask to move.");

  /** All settings of a coordinator. */
  public static Settings settings() {
    return SETTINGS;
  }

  /** Options with their defaults. */
  public CoordinatorOptions() {
    super(SETTINGS);
  }

  /**
   * Options from JSON; what it leaves out has its default.
   *
   * @throws dev.evenkeel.protocol.RefusedException INVALID for an unknown key or a bad value
   */
  public CoordinatorOptions(JsonObject json) {
    super(SETTINGS, json);
  }

  /** See {@link #setName}. */
  public String getName() {
    return get(NAME);
  }

  /** Name of the coordinator: of all programs, those with the same name share it. */
  public CoordinatorOptions setName(String name) {
    return set(NAME, name);
  }

  /** See {@link #setRange}. */
  public int getRange() {
    return get(RANGE);
  }

  /**
   * The largest difference between two tracks in steps, from 1 to 1,000,000, by default 100. All
   * programs must agree.
   */
  public CoordinatorOptions setRange(int range) {
    return set(RANGE, range);
  }

  /** See {@link #setMemberTimeoutMillis}. */
  public long getMemberTimeoutMillis() {
    return get(MEMBER_TIMEOUT);
  }

  /**
   * The silence after which the others go on without a track, in milliseconds, from 2,000 to
   * 10,000, by default 5,000. A track whose program died holds the others back for that time. A
   * track that cannot reach the cluster stops 1 s before.
   */
  public CoordinatorOptions setMemberTimeoutMillis(long memberTimeoutMillis) {
    return set(MEMBER_TIMEOUT, memberTimeoutMillis);
  }

  /** See {@link #setIdleMillis}. */
  public long getIdleMillis() {
    return get(IDLE);
  }

  /**
   * How long others wait for a track that does not ask to move, in milliseconds, from 100 to
   * 3,600,000, by default 5,000. After that the track is set aside; its next move brings it back.
   */
  public CoordinatorOptions setIdleMillis(long idleMillis) {
    return set(IDLE, idleMillis);
  }
}
