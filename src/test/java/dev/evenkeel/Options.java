package dev.evenkeel;

import dev.evenkeel.client.ConsumerOptions;
import java.util.List;

/** Options of consumers in tests. */
public final class Options {
  private Options() {}

  /** Those of a member of a group. */
  public static ConsumerOptions member(String group, String member, String... topics) {
    return group(group, topics).setMember(member);
  }

  /** Those of a member of a group, which names itself. */
  public static ConsumerOptions group(String group, String... topics) {
    return new ConsumerOptions().setGroup(group).setTopics(List.of(topics));
  }
}
