package dev.evenkeel.protocol;

import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A pattern to which members of a group have subscribed, see {@link TopicPattern}. The group reads
 * topics that it takes in and that are made later.
 *
 * @param entry the pattern
 * @param allowed names and patterns of the topics that it may take in; null: all
 */
public record GroupPattern(String entry, @Nullable List<String> allowed)
    implements Comparable<GroupPattern> {
  private static final Comparator<GroupPattern> ORDER =
      Comparator.comparing(GroupPattern::entry)
          .thenComparing(each -> each.allowed == null ? "" : " " + String.join(" ", each.allowed));

  public GroupPattern {
    allowed = allowed == null ? null : List.copyOf(allowed);
  }

  /** Whether the group reads a topic of that name if it is made now. */
  public boolean takesIn(String topic) {
    return TopicPattern.matches(entry, topic)
        && (allowed == null || allowed.stream().anyMatch(may -> TopicPattern.matches(may, topic)));
  }

  /**
   * Checks it.
   *
   * @throws RefusedException INVALID
   */
  void check() {
    if (entry == null || !TopicPattern.is(entry)) {
      throw Refusal.INVALID.error("'%s' is no pattern of topics: use one with a '*'", entry);
    }
    TopicPattern.check(entry);
  }

  @Override
  public int compareTo(GroupPattern other) {
    return ORDER.compare(this, other);
  }
}
