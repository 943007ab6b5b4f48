package dev.evenkeel.cli;

import dev.evenkeel.api.DescribeTopic;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.TopicLimits;
import dev.evenkeel.api.TopicView;
import dev.evenkeel.protocol.Durations;
import dev.evenkeel.settings.ByteSizes;
import java.util.function.Function;
import java.util.function.LongFunction;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** The settings of a topic: the options that set them, and how they are shown. */
final class TopicSettings {
  private static final String OFF = "off";

  @Option(
      names = "--retention",
      paramLabel = "TIME",
      converter = OptionFormats.Time.class,
      description =
          "How long to keep a message after every group has consumed it. A new topic has 24h.")
  private Long retentionMillis;

  @Option(
      names = "--max-age",
      paramLabel = "TIME|off",
      converter = TimeOrOff.class,
      description =
          "Delete older messages even if a group has not consumed them. A new topic has off.")
  private Long ageMillisMax;

  @Option(
      names = "--max-shard-bytes",
      paramLabel = "SIZE|off",
      converter = SizeOrOff.class,
      description =
          "Delete the oldest messages of a larger shard even if a group has not consumed them. A"
              + " new topic has off.")
  private Long shardBytesMax;

  @Option(
      names = "--copy-from",
      paramLabel = "TOPIC",
      description = "Take the settings of this topic. Options beside this one change them.")
  private String copyFrom;

  static final class TimeOrOff implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      return orOff(text, new OptionFormats.Time());
    }
  }

  static final class SizeOrOff implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      return orOff(text, new OptionFormats.Size());
    }
  }

  private static Long orOff(String text, ITypeConverter<Long> other) {
    if (text.equals(OFF)) {
      return -1L;
    }
    try {
      return other.convert(text);
    } catch (CommandFailure e) {
      throw CommandFailure.usage(e.getMessage() + "; or off");
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  boolean areGiven() {
    return copyFrom != null
        || retentionMillis != null
        || ageMillisMax != null
        || shardBytesMax != null;
  }

  /** The topic that {@code --copy-from} names; null: none. */
  TopicView original(HttpApi api) {
    return copyFrom == null
        ? null
        : api.read(Operations.DESCRIBE_TOPIC, new DescribeTopic(copyFrom)).topic();
  }

  /**
   * The settings as the API takes them.
   *
   * @param original the topic whose settings are copied; null: none
   */
  TopicLimits limits(TopicView original) {
    return new TopicLimits(
        or(retentionMillis, original, TopicView::retentionMillis),
        or(ageMillisMax, original, TopicView::ageMillisMax),
        or(shardBytesMax, original, TopicView::shardBytesMax));
  }

  private static Long or(Long given, TopicView original, Function<TopicView, Long> setting) {
    return given != null || original == null ? given : setting.apply(original);
  }

  static String retention(TopicView topic) {
    return Durations.format(topic.retentionMillis());
  }

  static String maxAge(TopicView topic) {
    return shown(topic.ageMillisMax(), Durations::format);
  }

  /** Of a shard. */
  static String maxBytes(TopicView topic) {
    return shown(topic.shardBytesMax(), ByteSizes::format);
  }

  private static String shown(long limit, LongFunction<String> format) {
    return limit < 0 ? OFF : format.apply(limit);
  }

  /** All settings in one line. */
  static String line(TopicView topic) {
    String bytes = maxBytes(topic);
    return "retention %s, max age %s, max bytes %s%s"
        .formatted(retention(topic), maxAge(topic), bytes, bytes.equals(OFF) ? "" : " a shard");
  }
}
