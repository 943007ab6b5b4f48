package dev.evenkeel.cli;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Dedup;
import dev.evenkeel.client.ConsumerOptions.DeliveryPolicy;
import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.client.ConsumerOptions.OnDamagedOffsets;
import dev.evenkeel.client.ConsumerOptions.OnFailure;
import dev.evenkeel.client.ConsumerOptions.Order;
import dev.evenkeel.client.ConsumerOptions.OverRate;
import dev.evenkeel.client.ConsumerOptions.RateBy;
import dev.evenkeel.client.ConsumerOptions.Strategy;
import dev.evenkeel.client.Rate;
import dev.evenkeel.client.internal.member.OptionsCheck;
import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Option;

/** What {@code consume} asks of the consumer: the library's {@link ConsumerOptions} as flags. */
final class ConsumeOptions {
  /** Printing takes no worker; this only bounds the lines that wait to be written. */
  private static final int LINES_WAITING_MAX = 4_096;

  private static final int PARALLEL_MAX = 1_024;
  private static final long LOCK_TIME_MILLIS_MAX = 3_600_000;

  @Option(
      names = "--group",
      paramLabel = "G",
      required = true,
      description = "Group that shares the messages.")
  private String group;

  @Option(
      names = "--member",
      paramLabel = "NAME",
      description = "Name in the group; a second member of the same name takes over.")
  private String member;

  @Option(
      names = "--mode",
      paramLabel = "sharded|level|broadcast|singleton",
      defaultValue = "sharded",
      description =
          "sharded: each shard to one member; level: messages to members so that none has finished"
              + " many more than another, so the slowest sets the pace; broadcast: every message to"
              + " every member, each of which keeps its own --offsets; singleton: all to one"
              + " elected member, the others wait to take its place (default: ${DEFAULT-VALUE})."
              + " All members must agree on mode, range and strategy.")
  private Mode mode;

  @Option(
      names = "--range",
      paramLabel = "N",
      description =
          "Mode level: the largest difference between two members in finished messages, 1 to"
              + " 1,000,000; small keeps them closer, large lets more be in flight (default: 100).")
  private Integer range;

  @Option(
      names = "--strategy",
      paramLabel = "pull|push",
      description =
          "Mode level: pull: members draw as many messages as they have room for; push: they are"
              + " dealt to the members in turn (default: pull).")
  private Strategy strategy;

  @Option(
      names = "--stall-timeout",
      paramLabel = "TIME",
      converter = OptionFormats.Time.class,
      description =
          "Mode level: a member that holds the others up and finishes nothing for so long is set"
              + " aside: its messages are dealt again, and it comes back as newly joined (default:"
              + " 10s).")
  private Long stallTimeoutMillis;

  @Option(
      names = "--offsets",
      paramLabel = "DIR",
      description =
          "Mode broadcast, needed there: directory for this member's offsets, which are in no log;"
              + " one member of a group at a time.")
  private String offsets;

  @Option(
      names = "--on-damaged-offsets",
      paramLabel = "refuse|earliest|latest",
      description =
          "Mode broadcast: if the file of offsets is damaged, do not start, or put it aside and"
              + " begin there (default: refuse).")
  private OnDamagedOffsets onDamagedOffsets;

  @Option(
      names = "--dedup",
      paramLabel = "key|payload",
      description =
          "Of messages with the same key or payload one is worked on and one waits at a time in the"
              + " whole group; every further one is finished without work (default: off). All"
              + " members must agree. Only in mode sharded.")
  private Dedup dedup;

  @Option(
      names = "--dedup-timeout",
      paramLabel = "TIME",
      converter = OptionFormats.Time.class,
      description =
          "With --dedup: work that takes longer loses its key, and whoever waits for it goes on"
              + " (default: 60s).")
  private Long dedupTimeoutMillis;

  @Option(
      names = "--rate",
      paramLabel = "R",
      converter = OptionFormats.PerTime.class,
      description =
          "Most messages that this member begins, as 100/s, 30/m or 1/10s; so many may come at once"
              + " (default: no limit). Not in mode level.")
  private Rate rate;

  @Option(
      names = "--key-rate",
      paramLabel = "R",
      converter = OptionFormats.PerTime.class,
      description =
          "The same for each key: a message over it waits for its turn, and others pass (default:"
              + " no limit).")
  private Rate keyRate;

  @Option(
      names = "--rate-by",
      paramLabel = "key|payload",
      description = "Whose --key-rate: of a key, or of a payload (default: key).")
  private RateBy rateBy;

  @Option(
      names = "--over-rate",
      paramLabel = "wait|drop-oldest|drop-newest",
      description =
          "Of the same messages over --key-rate each waits, or one waits and the older or the newer"
              + " ones are finished without work (default: wait). Dropping needs --order key or"
              + " none.")
  private OverRate overRate;

  @Option(
      names = "--assignor",
      paramLabel = "NAME",
      description =
          "Who gets which shard: sticky, average, consistent-hash, or another that the nodes have;"
              + " all members must agree (default: what the group has, else sticky).")
  private String assignor;

  @Option(
      names = "--stuck-timeout",
      paramLabel = "TIME",
      converter = OptionFormats.Time.class,
      description =
          "Lose a shard of which messages are in hand and none was finished for so long (default:"
              + " never).")
  private Long stuckTimeoutMillis;

  @Option(
      names = "--lock-time",
      paramLabel = "TIME",
      converter = OptionFormats.Time.class,
      defaultValue = "50s",
      description =
          "How long a hand-over waits for this member's release at most (default:"
              + " ${DEFAULT-VALUE}).")
  private long lockTimeMillis;

  @Option(
      names = "--crash-lock-time",
      paramLabel = "TIME",
      converter = OptionFormats.Time.class,
      description =
          "How long shards wait after this member's death for a release (default: not at all).")
  private Long crashLockTimeMillis;

  @Option(
      names = "--order",
      paramLabel = "shard|key|none",
      description =
          "What is kept in order; none: all in parallel (default: shard; in mode level: none).")
  private Order order;

  @Option(
      names = "--parallel",
      paramLabel = "N",
      defaultValue = "16",
      description = "Commands that run at once, at most (default: ${DEFAULT-VALUE}).")
  private int parallel;

  @Option(
      names = "--from",
      paramLabel = "earliest|latest|TIMESTAMP",
      defaultValue = "earliest",
      description =
          "Where a new group begins; a timestamp is milliseconds since 1970 or"
              + " 2026-01-31T12:00:00Z (default: ${DEFAULT-VALUE}).")
  private String from;

  @Option(
      names = "--retry-delays",
      paramLabel = "TIME,...",
      description =
          "Pauses before the second and all further attempts of a message: with n of them it is"
              + " tried n + 1 times (default: 1s,5s,30s,2m,10m).")
  private String retryDelays;

  @Option(
      names = "--on-failure",
      paramLabel = "retry|dead-letter|stop",
      defaultValue = "retry",
      description =
          "retry: try again, then put it among the dead letters; dead-letter, stop: do that, or"
              + " leave with status 1, at once or after the retries asked for (default:"
              + " ${DEFAULT-VALUE}).")
  private OnFailure onFailure;

  @Option(
      names = "--delivery",
      paramLabel = "at-most-once|at-least-once|effectively-once",
      description =
          "at-most-once: commit before the message is handled, and never try again; at-least-once:"
              + " commit after it; effectively-once: that, and the state of --on-assign and"
              + " --on-release counts each message once (default: at-least-once).")
  private DeliveryPolicy delivery;

  /**
   * @param topic to consume
   * @param given the commands of the user, and {@code --max}
   * @throws CommandFailure wrong usage, saying what would be right
   */
  ConsumerOptions options(String topic, ConsumeRun.Settings given) {
    checkModes(given);
    OptionFormats.range("--parallel", parallel, 1, PARALLEL_MAX);
    OptionFormats.timeRange("--lock-time", lockTimeMillis, 0, LOCK_TIME_MILLIS_MAX);
    if (keyRate == null && (rateBy != null || overRate != null)) {
      throw CommandFailure.usage("--rate-by and --over-rate: only with --key-rate");
    }
    boolean printed = given.execCommand() == null;
    // One that waits for its key, or for its turn, must not be passed by those behind it. Else
    // lines are written in the order in which messages are handed out, which is a shard's own, and
    // no line fails alone: so every order holds without waiting for one line before the next.
    boolean unordered = printed && dedup == null && rate == null && keyRate == null;
    JsonObject json =
        new JsonObject()
            .put("group", group)
            .put("member", member)
            .put("topics", List.of(topic))
            .put("mode", mode)
            .put("range", range)
            .put("strategy", strategy)
            .put("stallTimeoutMillis", stallTimeoutMillis)
            .put("offsetsDirectory", offsets)
            .put("onDamagedOffsets", onDamagedOffsets)
            .put("dedup", dedup)
            .put("dedupTimeoutMillis", dedupTimeoutMillis)
            .put("rateBy", rateBy)
            .put("overRate", overRate)
            .put("assignor", assignor)
            .put("stuckTimeoutMillis", stuckTimeoutMillis)
            .put("lockTimeMillis", lockTimeMillis)
            .put("crashLockTimeMillis", crashLockTimeMillis)
            .put("order", order)
            .put("parallel", printed ? LINES_WAITING_MAX : parallel)
            .put("retryDelaysMillis", retryDelaysMillis())
            .put("onFailure", onFailure)
            .put("delivery", delivery);
    ConsumerOptions options =
        new ConsumerOptions(json).setStart(start(from)).setRate(rate).setKeyRate(keyRate);
    OptionFormats.checked(
        () -> {
          if (member != null) {
            Names.check("member", member);
          }
          OptionsCheck.check(options);
        });
    checkDelivery(options, given);
    return unordered ? options.setOrder(Order.NONE) : options;
  }

  /** Options about shards that move from member to member are for modes in which they do. */
  private void checkModes(ConsumeRun.Settings given) {
    if (mode != Mode.LEVEL && mode != Mode.BROADCAST) {
      return;
    }
    Map<String, Object> ofOwners = new LinkedHashMap<>();
    ofOwners.put("--assignor", assignor);
    ofOwners.put("--stuck-timeout", stuckTimeoutMillis);
    ofOwners.put("--crash-lock-time", crashLockTimeMillis);
    ofOwners.put("--on-assign", given.assignCommand());
    ofOwners.put("--on-release", given.releaseCommand());
    ofOwners.forEach(
        (option, value) -> {
          if (value != null) {
            throw CommandFailure.usage(
                option
                    + ": in --mode "
                    + mode.name().toLowerCase(Locale.ROOT)
                    + " no member owns shards; leave it out, or use --mode sharded");
          }
        });
  }

  private static void checkDelivery(ConsumerOptions options, ConsumeRun.Settings given) {
    boolean state = given.assignCommand() != null && given.releaseCommand() != null;
    if (options.getDelivery() == DeliveryPolicy.EFFECTIVELY_ONCE
        && (given.execCommand() == null || !state || options.getOrder() != Order.SHARD)) {
      throw CommandFailure.usage(
          "--delivery effectively-once: it needs --exec, --on-assign, --on-release and --order"
              + " shard");
    }
    if (options.getDelivery() != DeliveryPolicy.AT_MOST_ONCE) {
      return;
    }
    if (given.max() > 0) {
      throw CommandFailure.usage(
          "--delivery at-most-once: not with --max, beyond which messages would be committed and"
              + " not handled");
    }
    if (given.assignCommand() != null || given.releaseCommand() != null) {
      throw CommandFailure.usage("--delivery at-most-once: not with --on-assign or --on-release");
    }
  }

  private JsonArray retryDelaysMillis() {
    if (retryDelays == null) {
      return null;
    }
    JsonArray millis = new JsonArray();
    for (String delay : retryDelays.split(",", -1)) {
      try {
        millis.add(Durations.parseMillis(delay));
      } catch (RefusedException | ArithmeticException e) {
        throw CommandFailure.usage(
            "--retry-delays '" + delay.trim() + "': write times with commas, like 100ms,5s,2m");
      }
    }
    return millis;
  }

  /**
   * {@code earliest}, {@code latest}, milliseconds since 1970, or ISO-8601 (UTC if it says none).
   */
  static StartAt start(String text) {
    if (text.equals("earliest")) {
      return StartAt.EARLIEST;
    }
    if (text.equals("latest")) {
      return StartAt.LATEST;
    }
    try {
      if (text.matches("\\d{1,18}")) {
        return StartAt.timestamp(Long.parseLong(text));
      }
      if (text.matches("\\d{4}-\\d{2}-\\d{2}")) {
        return at(LocalDate.parse(text).atStartOfDay().toInstant(ZoneOffset.UTC));
      }
      boolean zoned = text.matches(".*T.*([zZ]|[+-]\\d{2}(:?\\d{2})?)");
      return at(OffsetDateTime.parse(zoned ? text : text + "Z").toInstant());
    } catch (DateTimeException e) {
      throw CommandFailure.usage(
          "--from '"
              + text
              + "': write earliest, latest, milliseconds since 1970, or 2026-01-31T12:00:00Z");
    }
  }

  private static StartAt at(Instant instant) {
    return StartAt.timestamp(Math.max(0, instant.toEpochMilli()));
  }
}
