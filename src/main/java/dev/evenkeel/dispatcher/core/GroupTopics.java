package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupPattern;
import dev.evenkeel.protocol.TopicPattern;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which topics the members of a group read. A member reads a topic as soon as the group's record
 * names it. If the log takes no more topics into the record, because somebody has created more than
 * a group may have, the group reads those that it has, and the others are left out.
 *
 * <pre>
 *            the log has taken a command: twice as many may be in the next one
 * any number of topics, up to AT_ONCE <------------------------------------------,
 *       |  the log has refused one: half as many                                 |
 *       `-----> none: {@link #full()} -- when the group is tended: one topic ----'
 * </pre>
 */
final class GroupTopics {
  /** Most topics that one command adds to the record: with the longest names, 600 KB. */
  static final int AT_ONCE = 5_000;

  /** Most subscriptions of which it remembers what they read. */
  private static final int READINGS_MAX = 100;

  /**
   * What a member subscribes to.
   *
   * @param subscription the one of all members that have an equal one
   * @param wanted topics that it names, and active ones that its patterns match
   * @param read those that the group's record names
   * @param missing the others, sorted
   */
  record Reading(
      Topics.Subscription subscription,
      Set<String> wanted,
      Set<String> read,
      List<String> missing) {}

  private final DispatcherState state;
  private int atOnce = AT_ONCE;

  private boolean leavesOut;

  /** What the record was, and how often the topics had changed, for {@link #readings}. */
  private GroupInfo lastInfo;

  private long lastRevision;

  /** By subscription: members of a group most often have the same. */
  private final Map<Topics.Subscription, Reading> readings = new HashMap<>();

  GroupTopics(DispatcherState state) {
    this.state = state;
  }

  /**
   * @param info the group's record; null: it has none, so that all is missing
   */
  Reading of(GroupInfo info, Heartbeat beat) {
    if (info != lastInfo || state.topics().revision() != lastRevision) {
      readings.clear();
      lastInfo = info;
      lastRevision = state.topics().revision();
    }
    Topics.Subscription subscription = state.topics().subscription(beat);
    Reading known = readings.get(subscription);
    if (known == null) {
      if (readings.size() >= READINGS_MAX) {
        readings.clear();
      }
      known = reading(info, subscription, state.topics().named(subscription));
      readings.put(subscription, known);
    }
    return known;
  }

  private static Reading reading(
      GroupInfo info, Topics.Subscription subscription, Set<String> wanted) {
    List<String> missing =
        wanted.stream().filter(topic -> info == null || !info.reads(topic)).sorted().toList();
    Set<String> read = wanted;
    if (!missing.isEmpty()) {
      read = new HashSet<>(wanted);
      missing.forEach(read::remove);
    }
    return new Reading(subscription, wanted, read, missing);
  }

  /** How many topics the next command may add. */
  int atOnce() {
    return atOnce;
  }

  /** Whether the log has refused to add even one topic. */
  boolean full() {
    return atOnce == 0;
  }

  /** Whether members want to read topics that the log does not take, as far as is known. */
  boolean leavesOut() {
    return leavesOut;
  }

  /** The log has taken a command that adds so many topics or marks them as seen. */
  void taken(int topics) {
    if (topics > 0 && atOnce > 0) {
      leavesOut = false;
    }
    atOnce = Math.min(AT_ONCE, Math.max(1, 2 * atOnce));
  }

  /**
   * The log has refused to add so many topics.
   *
   * @return whether from now on topics are left out that were not before
   */
  boolean refused(int topics) {
    atOnce = Math.min(atOnce, topics) / 2;
    boolean news = full() && !leavesOut;
    leavesOut |= news;
    return news;
  }

  /** Time has passed: topics may have been forgotten. */
  void tend() {
    atOnce = Math.max(1, atOnce);
  }

  /** Whether a subscription can grow without its member. */
  static boolean hasPatterns(Heartbeat beat) {
    return beat.topics().stream().anyMatch(TopicPattern::is);
  }

  /**
   * The patterns to which a member subscribes, as far as the group's record has them. None in a
   * cluster of versions that do not keep them, and in a group without leases.
   */
  List<GroupPattern> patterns(Heartbeat beat) {
    if (state.level < FeatureLevel.TOPIC_PATTERNS || beat.policy().isBroadcast()) {
      return List.of();
    }
    return beat.topics().stream()
        .filter(TopicPattern::is)
        .distinct()
        .limit(GroupInfo.PATTERNS_MAX)
        .map(entry -> new GroupPattern(entry, beat.mayConsume()))
        .toList();
  }

  /** Whether the group's record lacks a pattern of the member, and has room for it. */
  boolean lacksPattern(GroupInfo info, Heartbeat beat) {
    return info.patterns().size() < GroupInfo.PATTERNS_MAX
        && !info.patterns().keySet().containsAll(patterns(beat));
  }
}
