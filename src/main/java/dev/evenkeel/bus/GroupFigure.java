package dev.evenkeel.bus;

import static dev.evenkeel.bus.GroupFigure.Kind.GAUGE;
import static dev.evenkeel.bus.GroupFigure.Kind.WHOLE_GAUGE;
import static dev.evenkeel.bus.GroupFigure.Section.DEDUP;
import static dev.evenkeel.bus.GroupFigure.Section.FAILURES;
import static dev.evenkeel.bus.GroupFigure.Section.LEVEL;
import static dev.evenkeel.bus.GroupFigure.Section.RATES;

/**
 * The figures of a consumer group. The sums of the dispatcher, the metrics and the JSON of a group
 * all follow from these declarations.
 */
public enum GroupFigure {
  DEDUP_ACCEPTED(DEDUP, "accepted", "dedup.accepted", "Dedup: messages accepted without waiting"),
  DEDUP_BLOCKED(
      DEDUP,
      "blocked",
      "dedup.blocked",
      "Dedup: messages that waited for another with the same key"),
  DEDUP_DECLINED(
      DEDUP,
      "declined",
      "dedup.declined",
      "Dedup: messages declined, which means finished without being handled"),
  DEDUP_EVICTED(DEDUP, "evicted", "dedup.evicted", "Dedup: claims that timed out and were freed"),
  DEDUP_LOST(
      DEDUP,
      "lost",
      "dedup.lost",
      "Dedup: handlers that lost their claim and may have overlapped with another"),
  DEDUP_UNGUARDED(
      DEDUP,
      "unguarded",
      "dedup.unguarded",
      "Dedup: messages handled without a claim because the cluster did not answer"),
  DEDUP_PROCESSING(DEDUP, "processing", "dedup.processing", "Dedup: messages being handled", GAUGE),
  DEDUP_WAITING(
      DEDUP,
      "waiting",
      "dedup.waiting",
      "Dedup: messages waiting for another with the same key",
      GAUGE),

  RATE_DELAYED(
      RATES,
      "delayed",
      "rate.delayed",
      "Messages that waited because of the rate limit of their key"),
  RATE_DROPPED(
      RATES, "dropped", "rate.dropped", "Messages dropped because of the rate limit of their key"),
  RATE_WAITING(RATES, "waiting", "rate.waiting", "Messages waiting because of a rate limit", GAUGE),
  RATE_SHARDS_WAITING(
      RATES,
      "shardsWaiting",
      "rate.shards.waiting",
      "Shards that are not fetched because too many messages wait for a rate limit",
      GAUGE),

  RETRIES_WAITING(
      FAILURES, "retriesWaiting", "retries.waiting", "Messages waiting for a retry", WHOLE_GAUGE),
  RETRIES_PARKED(
      FAILURES,
      "parked",
      "retries.parked",
      "Messages parked behind a failed message with the same key",
      WHOLE_GAUGE),
  SHARDS_RETRYING(
      FAILURES,
      "shardsWaiting",
      "shards.retrying",
      "Shards blocked by a retry, or because no more messages can be parked",
      WHOLE_GAUGE),
  DEAD_LETTERS(
      FAILURES,
      "deadLetters",
      "dead.letters",
      "Dead letters: messages whose attempts have all failed",
      WHOLE_GAUGE),

  LEVEL_RANGE(
      LEVEL,
      "range",
      "level.range",
      "Mode level: largest allowed difference of two members in finished messages",
      GAUGE),
  LEVEL_GAP(
      LEVEL,
      "gap",
      "level.gap",
      "Mode level: largest difference of two live members in finished messages",
      GAUGE),
  LEVEL_ROUND(
      LEVEL,
      "round",
      "level.round",
      "Mode level: rounds, which count how often the slowest member advanced by the range",
      GAUGE),
  LEVEL_HELD_SECONDS(
      "level.held.seconds",
      "Mode level: how long one member has blocked the others; 0 if none does",
      GAUGE),
  LEVEL_SET_ASIDE(
      LEVEL,
      "setAside",
      "level.set.aside",
      "Mode level: how often a member was set aside because it blocked the others"),

  MEMBERS("members", "Live members, as their heartbeats show", GAUGE),
  SHARDS("shards", "Shards of the topics that the group reads", GAUGE),
  SHARDS_UNOWNED("shards.unowned", "Shards without a live owner", GAUGE),
  SHARDS_DRAINING("shards.draining", "Shards that their owner is releasing", GAUGE),
  SHARDS_PAUSED(
      "shards.paused", "Shards from which the group gets nothing because it is paused", GAUGE),
  SHARDS_CAREFUL(
      "shards.careful",
      "Shards whose messages are handled one by one, because owners died without progress",
      GAUGE),
  SHARDS_STUCK(
      "shards.stuck",
      "Stuck shards: the live owner finishes none of the messages that it is handling",
      GAUGE),
  TOPICS_LEFT_OUT(
      "topics.left.out",
      "Topics that members subscribe to and that are too many for the group to read",
      GAUGE),
  BREAKERS_OPEN(
      "breakers.open", "Members whose circuit breaker is open because most messages fail", GAUGE),
  BROADCAST_LAG(
      "broadcast.lag.messages", "Mode broadcast: lag of the member that is furthest behind", GAUGE),
  REPETITION_SHARE(
      "repetition.share",
      "Share of the messages that dedup declines, or would decline if it were on",
      GAUGE),

  /** By topic. */
  LAG("lag.messages", "Messages not consumed yet", WHOLE_GAUGE),

  /** By topic. It goes back when it is forgotten, so it is no counter. */
  SKIPPED(
      "messages.skipped",
      "Messages that a limit dropped before the group consumed them, in the last 7 days",
      GAUGE),

  /** By topic. */
  COMMITTED("committed.offset", "Sum of the committed offsets of the group's shards", WHOLE_GAUGE);

  /** How a figure adds up. */
  public enum Kind {
    /** Only grows. The count of a member stays in the sum after the member left. */
    COUNTER,

    /** A value of now. A member that left counts as 0, and a sum leaves out unknown values. */
    GAUGE,

    /** A value of now. A sum is unknown as long as one of its parts is. */
    WHOLE_GAUGE
  }

  /** An object in the JSON of a group; its figures are known together or not at all. */
  public enum Section {
    DEDUP,
    RATES,
    FAILURES,
    LEVEL
  }

  private final Section section;
  private final String key;
  private final String metric;
  private final String help;
  private final Kind kind;

  GroupFigure(Section section, String key, String metric, String help) {
    this(section, key, metric, help, Kind.COUNTER);
  }

  GroupFigure(String metric, String help, Kind kind) {
    this(null, null, metric, help, kind);
  }

  GroupFigure(Section section, String key, String metric, String help, Kind kind) {
    this.section = section;
    this.key = key;
    this.metric = "evenkeel.group." + metric;
    this.help = help;
    this.kind = kind;
  }

  /** The object that holds it in the JSON of a group; null: it is in none. */
  public Section section() {
    return section;
  }

  /** Its name in the JSON of its section. */
  public String key() {
    return key;
  }

  /** The name of its metric, with dots. */
  public String metric() {
    return metric;
  }

  /** The description of the metric. */
  public String help() {
    return help;
  }

  public Kind kind() {
    return kind;
  }
}
