package dev.evenkeel.client;

import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.TopicLimits;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.settings.SettingValues;
import dev.evenkeel.settings.Settings;
import io.vertx.core.json.JsonObject;
import java.time.Duration;

/**
 * Settings of a topic that can change; see {@link Admin}. What is not set keeps its value, or has
 * its default in a new topic. Values are checked by the cluster: INVALID if one is out of bounds.
 */
public final class TopicSettings extends SettingValues<TopicSettings> {
  private static final Settings SETTINGS = new Settings("topic setting");

  private static final Setting<Long> RETENTION =
      SETTINGS
          .time("retentionMillis")
          .usually(TopicConfig.DEFAULT.retentionMillis())
          .from(0)
          .help("How long to keep a message after every group has consumed it.");
  private static final Setting<Long> AGE_MAX =
      SETTINGS
          .timeOrOff("ageMillisMax")
          .usually(TopicConfig.DEFAULT.ageMillisMax())
          .option("--max-age")
          .help("Delete older messages even if a group has not consumed them.");
  private static final Setting<Long> SHARD_BYTES_MAX =
      SETTINGS
          .sizeOrOff("shardBytesMax")
          .usually(TopicConfig.DEFAULT.shardBytesMax())
          .option("--max-shard-bytes")
          .title("max bytes")
          .per("a shard")
          .help(
              "Delete the oldest messages of a larger shard even if a group has not consumed"
                  + " them.");

  /** What is known of each. */
  public static Settings settings() {
    return SETTINGS;
  }

  /** Settings none of which is set. */
  public TopicSettings() {
    super(SETTINGS);
  }

  /**
   * Settings from JSON. A key that is left out or null is not set.
   *
   * @throws dev.evenkeel.protocol.RefusedException INVALID for an unknown key or a bad value
   */
  public TopicSettings(JsonObject json) {
    super(SETTINGS, json);
  }

  TopicLimits limits() {
    return RecordJson.of(TopicLimits.class).read(toJson());
  }

  /** See {@link #setRetentionMillis}. */
  public Long getRetentionMillis() {
    return given(RETENTION);
  }

  /** How long a message is kept after every group has consumed it. By default a day. */
  public TopicSettings setRetentionMillis(Long retentionMillis) {
    return set(RETENTION, retentionMillis);
  }

  /** As {@link #setRetentionMillis}. */
  public TopicSettings setRetention(Duration retention) {
    return setRetentionMillis(retention.toMillis());
  }

  /** See {@link #setAgeMillisMax}. */
  public Long getAgeMillisMax() {
    return given(AGE_MAX);
  }

  /** Messages older than this are dropped, consumed or not. By default -1, which means off. */
  public TopicSettings setAgeMillisMax(Long ageMillisMax) {
    return set(AGE_MAX, ageMillisMax);
  }

  /** See {@link #setShardBytesMax}. */
  public Long getShardBytesMax() {
    return given(SHARD_BYTES_MAX);
  }

  /**
   * The oldest messages of a shard larger than this are dropped, consumed or not. By default -1,
   * which means off.
   */
  public TopicSettings setShardBytesMax(Long shardBytesMax) {
    return set(SHARD_BYTES_MAX, shardBytesMax);
  }
}
