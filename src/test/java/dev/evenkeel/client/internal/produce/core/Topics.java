package dev.evenkeel.client.internal.produce.core;

import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import java.util.List;

/** Topics as producers see them. */
final class Topics {
  private Topics() {}

  /**
   * @param dropped layouts before those that log groups remember
   */
  static TopicInfo of(int id, List<TopicInfo.Layout> layouts, List<TopicInfo.Layout> dropped) {
    return new TopicInfo(
        id,
        "t",
        List.copyOf(layouts),
        List.copyOf(dropped),
        null,
        TopicConfig.DEFAULT,
        TopicInfo.State.ACTIVE,
        1_000);
  }
}
