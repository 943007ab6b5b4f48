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
import java.util.function.Supplier;

/** The flags of {@code consume} that stand for the library's {@link ConsumerOptions}. */
final class ConsumeOptions {
  /** With printing, which needs no workers, this bounds the lines that wait to be written. */
  private static final int LINES_WAITING_MAX = 4_096;

  private static final int PARALLEL_MAX = 1_024;
  private static final long LOCK_TIME_MILLIS_MAX = 3_600_000;

  final CommandOptions flags = new CommandOptions();

  /** The values by their keys in the JSON of {@link ConsumerOptions}. */
  private final Map<String, Supplier<?>> values = new LinkedHashMap<>();

  private final Supplier<Rate> rate =
      flags.value(
          "--rate",
          "R",
          Rate.class,
          OptionFormats::rate,
          null,
          "Most messages that this member begins, as 100/s, 30/m or 1/10s; so many may come at"
              + " once (default: no limit). Not in mode level.");

  private final Supplier<Rate> keyRate =
      flags.value(
          "--key-rate",
          "R",
          Rate.class,
          OptionFormats::rate,
          null,
          "The same for each key: a message over it waits for its turn, and others pass (default:"
              + " no limit).");

  private final Supplier<Integer> parallel =
      flags.integer("--parallel", "16", 1, PARALLEL_MAX, "Commands that run at once, at most");

  private final Supplier<String> from =
      flags.text(
          "--from",
          "earliest|latest|TIMESTAMP",
          "earliest",
          "Where a new group begins; a timestamp is milliseconds since 1970 or"
              + " 2026-01-31T12:00:00Z");

  private final Supplier<String> retryDelays =
      flags.text(
          "--retry-delays",
          "TIME,...",
          "Pauses before the second and all further attempts of a message: with n of them it is"
              + " tried n + 1 times (default: 1s,5s,30s,2m,10m).");

  ConsumeOptions() {
    values.put("group", flags.required("--group", "G", "Group that shares the messages."));
    values.put(
        "member",
        flags.text(
            "--member", "NAME", "Name in the group; a second member of the same name takes over."));
    values.put(
        "mode",
        flags.constant(
            "--mode",
            "sharded|level|broadcast|singleton",
            Mode.class,
            "sharded",
            "sharded: each shard to one member; level: messages to members so that none has"
                + " finished many more than another, so the slowest sets the pace; broadcast: every"
                + " message to every member, each of which keeps its own --offsets; singleton: all"
                + " to one elected member, the others wait to take its place (default:"
                + " ${DEFAULT-VALUE}). All members must agree on mode, range and strategy."));
    values.put(
        "range",
        flags.value(
            "--range",
            "N",
            Integer.class,
            Integer::valueOf,
            null,
            "Mode level: the largest difference between two members in finished messages, 1 to"
                + " 1,000,000; small keeps them closer, large lets more be in flight (default:"
                + " 100)."));
    values.put(
        "strategy",
        flags.constant(
            "--strategy",
            "pull|push",
            Strategy.class,
            "Mode level: pull: members draw as many messages as they have room for; push: they are"
                + " dealt to the members in turn (default: pull)."));
    values.put(
        "stallTimeoutMillis",
        flags.time(
            "--stall-timeout",
            "Mode level: a member that holds the others up and finishes nothing for so long is set"
                + " aside: its messages are dealt again, and it comes back as newly joined"
                + " (default: 10s)."));
    values.put(
        "offsetsDirectory",
        flags.text(
            "--offsets",
            "DIR",
            "Mode broadcast, needed there: directory for this member's offsets, which are in no"
                + " log; one member of a group at a time."));
    values.put(
        "onDamagedOffsets",
        flags.constant(
            "--on-damaged-offsets",
            "refuse|earliest|latest",
            OnDamagedOffsets.class,
            "Mode broadcast: if the file of offsets is damaged, do not start, or put it aside and"
                + " begin there (default: refuse)."));
    values.put(
        "dedup",
        flags.constant(
            "--dedup",
            "key|payload",
            Dedup.class,
            "Of messages with the same key or payload one is worked on and one waits at a time in"
                + " the whole group; every further one is finished without work (default: off). All"
                + " members must agree. Only in mode sharded."));
    values.put(
        "dedupTimeoutMillis",
        flags.time(
            "--dedup-timeout",
            "With --dedup: work that takes longer loses its key, and whoever waits for it goes on"
                + " (default: 60s)."));
    values.put(
        "rateBy",
        flags.constant(
            "--rate-by",
            "key|payload",
            RateBy.class,
            "Whose --key-rate: of a key, or of a payload (default: key)."));
    values.put(
        "overRate",
        flags.constant(
            "--over-rate",
            "wait|drop-oldest|drop-newest",
            OverRate.class,
            "Of the same messages over --key-rate each waits, or one waits and the older or the"
                + " newer ones are finished without work (default: wait). Dropping needs --order"
                + " key or none."));
    values.put(
        "assignor",
        flags.text(
            "--assignor",
            "NAME",
            "Who gets which shard: sticky, average, consistent-hash, or another that the nodes"
                + " have; all members must agree (default: what the group has, else sticky)."));
    values.put(
        "stuckTimeoutMillis",
        flags.time(
            "--stuck-timeout",
            "Lose a shard of which messages are in hand and none was finished for so long (default:"
                + " never)."));
    values.put(
        "lockTimeMillis",
        flags.time(
            "--lock-time", "50s", "How long a hand-over waits for this member's release at most"));
    values.put(
        "crashLockTimeMillis",
        flags.time(
            "--crash-lock-time",
            "How long shards wait after this member's death for a release (default: not at all)."));
    values.put(
        "order",
        flags.constant(
            "--order",
            "shard|key|none",
            Order.class,
            "What is kept in order; none: all in parallel (default: shard; in mode level: none)."));
    values.put(
        "onFailure",
        flags.constant(
            "--on-failure",
            "retry|dead-letter|stop",
            OnFailure.class,
            "retry",
            "retry: try again, then put it among the dead letters; dead-letter, stop: do that, or"
                + " leave with status 1, at once or after the retries asked for"));
    values.put(
        "delivery",
        flags.constant(
            "--delivery",
            "at-most-once|at-least-once|effectively-once",
            DeliveryPolicy.class,
            "at-most-once: commit before the message is handled, and never try again;"
                + " at-least-once: commit after it; effectively-once: that, and the state of"
                + " --on-assign and --on-release counts each message once (default:"
                + " at-least-once)."));
  }

  /**
   * @param topic to consume
   * @param given the user's commands, and {@code --max}
   * @throws CommandFailure wrong usage
   */
  ConsumerOptions options(String topic, ConsumeRun.Settings given) {
    JsonObject json = new JsonObject().put("topics", List.of(topic));
    values.forEach((key, value) -> json.put(key, value.get()));
    checkModes(json, given);
    OptionFormats.timeRange("--lock-time", json.getLong("lockTimeMillis"), 0, LOCK_TIME_MILLIS_MAX);
    boolean keyRated = keyRate.get() != null;
    if (!keyRated && (json.getValue("rateBy") != null || json.getValue("overRate") != null)) {
      throw CommandFailure.usage("--rate-by and --over-rate: only with --key-rate");
    }
    boolean printed = given.execCommand() == null;
    // Lines are written in the order in which messages are handed out, which is the shard's, and no
    // line fails alone. So every order holds without waiting for each line, unless a message may
    // wait for its key or its rate while later ones pass.
    boolean unordered =
        printed && json.getValue("dedup") == null && rate.get() == null && !keyRated;
    json.put("parallel", printed ? LINES_WAITING_MAX : parallel.get())
        .put("retryDelaysMillis", retryDelaysMillis());
    ConsumerOptions options =
        new ConsumerOptions(json)
            .setStart(start(from.get()))
            .setRate(rate.get())
            .setKeyRate(keyRate.get());
    OptionFormats.checked(
        () -> {
          if (options.getMember() != null) {
            Names.check("member", options.getMember());
          }
          OptionsCheck.check(options);
        });
    checkDelivery(options, given);
    return unordered ? options.setOrder(Order.NONE) : options;
  }

  /** Refuses options about the ownership of shards in modes in which members own none. */
  private static void checkModes(JsonObject json, ConsumeRun.Settings given) {
    String mode = json.getString("mode").toLowerCase(Locale.ROOT);
    if (!mode.equals("level") && !mode.equals("broadcast")) {
      return;
    }
    Map<String, Object> ofOwners = new LinkedHashMap<>();
    ofOwners.put("--assignor", json.getValue("assignor"));
    ofOwners.put("--stuck-timeout", json.getValue("stuckTimeoutMillis"));
    ofOwners.put("--crash-lock-time", json.getValue("crashLockTimeMillis"));
    ofOwners.put("--on-assign", given.assignCommand());
    ofOwners.put("--on-release", given.releaseCommand());
    ofOwners.forEach(
        (option, value) -> {
          if (value != null) {
            throw CommandFailure.usage(
                "%s: in --mode %s no member owns shards; leave it out, or use --mode sharded"
                    .formatted(option, mode));
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
    if (retryDelays.get() == null) {
      return null;
    }
    JsonArray millis = new JsonArray();
    for (String delay : retryDelays.get().split(",", -1)) {
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
