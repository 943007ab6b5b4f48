package dev.evenkeel.bus;

/**
 * The figures of a consumer group. Each is declared here once: what the dispatcher sums, the
 * metrics and the JSON of a group follow from it.
 */
public enum GroupFigure {
  DEDUP_ACCEPTED(
      Section.DEDUP, "accepted", "dedup.accepted", "Dedup: handlers that could begin at once"),
  DEDUP_BLOCKED(
      Section.DEDUP, "blocked", "dedup.blocked", "Dedup: messages that waited for their turn"),
  DEDUP_DECLINED(
      Section.DEDUP, "declined", "dedup.declined", "Dedup: messages finished without a handler"),
  DEDUP_EVICTED(Section.DEDUP, "evicted", "dedup.evicted", "Dedup: claims found overdue"),
  DEDUP_LOST(
      Section.DEDUP, "lost", "dedup.lost", "Dedup: runs that may have overlapped with another"),
  DEDUP_UNGUARDED(
      Section.DEDUP,
      "unguarded",
      "dedup.unguarded",
      "Dedup: runs that went ahead because the cluster did not answer"),
  DEDUP_PROCESSING(
      Section.DEDUP, "processing", "dedup.processing", "Dedup: handlers at work", Kind.GAUGE),
  DEDUP_WAITING(
      Section.DEDUP,
      "waiting",
      "dedup.waiting",
      "Dedup: messages that wait for their turn",
      Kind.GAUGE),

  RATE_DELAYED(
      Section.RATES, "delayed", "rate.delayed", "Messages that waited for a token of their key"),
  RATE_DROPPED(
      Section.RATES, "dropped", "rate.dropped", "Messages over the rate of their key, dropped"),
  RATE_WAITING(
      Section.RATES, "waiting", "rate.waiting", "Messages that wait for their rate", Kind.GAUGE),
  RATE_SHARDS_WAITING(
      Section.RATES,
      "shardsWaiting",
      "rate.shards.waiting",
      "Shards of which no more messages may wait for their rate",
      Kind.GAUGE),

  RETRIES_WAITING(
      Section.FAILURES,
      "retriesWaiting",
      "retries.waiting",
      "Messages that wait for another attempt",
      Kind.WHOLE_GAUGE),
  RETRIES_PARKED(
      Section.FAILURES,
      "parked",
      "retries.parked",
      "Messages that wait behind another of their key",
      Kind.WHOLE_GAUGE),
  SHARDS_RETRYING(
      Section.FAILURES,
      "shardsWaiting",
      "shards.retrying",
      "Shards that wait for a retry, or for room to park",
      Kind.WHOLE_GAUGE),
  DEAD_LETTERS(
      Section.FAILURES,
      "deadLetters",
      "dead.letters",
      "Messages of which every attempt failed",
      Kind.WHOLE_GAUGE),

  LEVEL_RANGE(
      Section.LEVEL,
      "range",
      "level.range",
      "Mode level: largest allowed difference of two members in finished messages",
      Kind.GAUGE),
  LEVEL_GAP(
      Section.LEVEL,
      "gap",
      "level.gap",
      "Mode level: largest difference of two live members in finished messages",
      Kind.GAUGE),
  LEVEL_ROUND(
      Section.LEVEL,
      "round",
      "level.round",
      "Mode level: how often the member that finished least got ahead by the range",
      Kind.GAUGE),
  LEVEL_HELD_SECONDS(
      "level.held.seconds",
      "Mode level: for how long one member has held up the others; 0 if none does",
      Kind.GAUGE),
  LEVEL_SET_ASIDE(
      Section.LEVEL,
      "setAside",
      "level.set.aside",
      "Mode level: how often a member was set aside for holding the others up"),

  MEMBERS("members", "Members heard of in time", Kind.GAUGE),
  SHARDS("shards", "Shards of the topics that it reads", Kind.GAUGE),
  SHARDS_UNOWNED("shards.unowned", "Shards without a live owner", Kind.GAUGE),
  SHARDS_DRAINING("shards.draining", "Shards whose owner was told to let go", Kind.GAUGE),
  SHARDS_STUCK(
      "shards.stuck",
      "Shards on which a live member finishes nothing of what it has in hand",
      Kind.GAUGE),
  BREAKERS_OPEN("breakers.open", "Members that pause, for most of their messages fail", Kind.GAUGE),
  BROADCAST_LAG(
      "broadcast.lag.messages",
      "Messages that the last member in mode broadcast has not consumed",
      Kind.GAUGE),
  REPETITION_SHARE(
      "repetition.share",
      "Part of the messages that dedup would decline or declines, on or off",
      Kind.GAUGE),

  /** By topic. */
  LAG("lag.messages", "Messages not consumed yet", Kind.WHOLE_GAUGE),

  /** By topic. */
  COMMITTED(
      "committed.offset", "Sum of the committed offsets of the group's shards", Kind.WHOLE_GAUGE);

  /** How a figure adds up. */
  public enum Kind {
    /** Only grows: what a member had counted stays in the sum after it left. */
    COUNTER,

    /**
     * What is so now: a member that left has none of it. What is not known is left out of a sum.
     */
    GAUGE,

    /** What is so now. A sum is unknown as long as a part of it is. */
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

  /** Where it is in the JSON of a group; null: it is no part of a section. */
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

  /** What the metric says of itself. */
  public String help() {
    return help;
  }

  public Kind kind() {
    return kind;
  }
}
