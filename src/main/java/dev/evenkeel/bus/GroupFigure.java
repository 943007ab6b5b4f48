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
  DEDUP_ACCEPTED(DEDUP, "accepted", "dedup.accepted", "Dedup: handlers that could begin at once"),
  DEDUP_BLOCKED(DEDUP, "blocked", "dedup.blocked", "Dedup: messages that waited for their turn"),
  DEDUP_DECLINED(DEDUP, "declined", "dedup.declined", "Dedup: messages finished without a handler"),
  DEDUP_EVICTED(DEDUP, "evicted", "dedup.evicted", "Dedup: claims found overdue"),
  DEDUP_LOST(DEDUP, "lost", "dedup.lost", "Dedup: runs that may have overlapped with another"),
  DEDUP_UNGUARDED(
      DEDUP,
      "unguarded",
      "dedup.unguarded",
      "Dedup: runs that went ahead because the cluster did not answer"),
  DEDUP_PROCESSING(DEDUP, "processing", "dedup.processing", "Dedup: handlers at work", GAUGE),
  DEDUP_WAITING(
      DEDUP, "waiting", "dedup.waiting", "Dedup: messages that wait for their turn", GAUGE),

  RATE_DELAYED(RATES, "delayed", "rate.delayed", "Messages that waited for a token of their key"),
  RATE_DROPPED(RATES, "dropped", "rate.dropped", "Messages over the rate of their key, dropped"),
  RATE_WAITING(RATES, "waiting", "rate.waiting", "Messages that wait for their rate", GAUGE),
  RATE_SHARDS_WAITING(
      RATES,
      "shardsWaiting",
      "rate.shards.waiting",
      "Shards of which no more messages may wait for their rate",
      GAUGE),

  RETRIES_WAITING(
      FAILURES,
      "retriesWaiting",
      "retries.waiting",
      "Messages that wait for another attempt",
      WHOLE_GAUGE),
  RETRIES_PARKED(
      FAILURES,
      "parked",
      "retries.parked",
      "Messages that wait behind another of their key",
      WHOLE_GAUGE),
  SHARDS_RETRYING(
      FAILURES,
      "shardsWaiting",
      "shards.retrying",
      "Shards that wait for a retry, or for room to park",
      WHOLE_GAUGE),
  DEAD_LETTERS(
      FAILURES,
      "deadLetters",
      "dead.letters",
      "Messages of which every attempt failed",
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
      "Mode level: how often the member that finished least got ahead by the range",
      GAUGE),
  LEVEL_HELD_SECONDS(
      "level.held.seconds",
      "Mode level: for how long one member has held up the others; 0 if none does",
      GAUGE),
  LEVEL_SET_ASIDE(
      LEVEL,
      "setAside",
      "level.set.aside",
      "Mode level: how often a member was set aside for holding the others up"),

  MEMBERS("members", "Members heard of in time", GAUGE),
  SHARDS("shards", "Shards of the topics that it reads", GAUGE),
  SHARDS_UNOWNED("shards.unowned", "Shards without a live owner", GAUGE),
  SHARDS_DRAINING("shards.draining", "Shards whose owner was told to let go", GAUGE),
  SHARDS_STUCK(
      "shards.stuck",
      "Shards on which a live member finishes nothing of what it has in hand",
      GAUGE),
  BREAKERS_OPEN("breakers.open", "Members that pause, for most of their messages fail", GAUGE),
  BROADCAST_LAG(
      "broadcast.lag.messages",
      "Messages that the last member in mode broadcast has not consumed",
      GAUGE),
  REPETITION_SHARE(
      "repetition.share",
      "Part of the messages that dedup would decline or declines, on or off",
      GAUGE),

  /** By topic. */
  LAG("lag.messages", "Messages not consumed yet", WHOLE_GAUGE),

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
