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
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
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
          "Rate limit of this member, as 100/s, 30/m or 1/10s. That many messages may start at once"
              + " (default: no limit). Not in mode level.");

  private final Supplier<Rate> groupRate =
      flags.value(
          "--group-rate",
          "R",
          Rate.class,
          OptionFormats::rate,
          null,
          "Rate limit of all members of the group together. It counts for every member, and 'quota"
              + " set group-rate' changes it while they run (default: as it is). Not in mode"
              + " level.");

  private final Supplier<Rate> keyRate =
      flags.value(
          "--key-rate",
          "R",
          Rate.class,
          OptionFormats::rate,
          null,
          "Rate limit of each key. A message over the limit waits, and messages of other keys pass"
              + " it (default: no limit).");

  private final Supplier<Integer> parallel =
      flags.integer("--parallel", "16", 1, PARALLEL_MAX, "How many commands may run at once");

  private final Supplier<String> from =
      flags.text(
          "--from",
          "earliest|latest|TIMESTAMP",
          "earliest",
          "Where a new group begins. A timestamp is milliseconds since 1970 or a time like"
              + " 2026-01-31T12:00:00Z");

  private final Supplier<String> retryDelays =
      flags.text(
          "--retry-delays",
          "TIME,...",
          "Delays before the second and later attempts of a message. With n delays a message is"
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
            "sharded: each shard goes to one member; level: members stay close in the number of"
                + " finished messages, so the slowest sets the pace; broadcast: every member gets"
                + " every message and keeps its own --offsets; singleton: one elected member gets"
                + " all messages, and the others wait to replace it (default: ${DEFAULT-VALUE})."
                + " All members must agree on mode, range and strategy."));
    values.put(
        "range",
        flags.value(
            "--range",
            "N",
            Integer.class,
            text -> (int) OptionFormats.wholeNumber(text, 1, GroupPolicy.RANGE_MAX),
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
            "Mode level: pull: each member asks for as many messages as it has room for; push: the"
                + " dispatcher sends messages to the members in turn (default: pull)."));
    values.put(
        "stallTimeoutMillis",
        flags.time(
            "--stall-timeout",
            "Mode level: a member that holds up the others and finishes nothing for this time is"
                + " set aside: others get its messages, and it returns as a new member (default:"
                + " 10s)."));
    values.put(
        "offsetsDirectory",
        flags.text(
            "--offsets",
            "DIR",
            "Mode broadcast, required there: directory for this member's offsets, which the cluster"
                + " does not store. Only one member of a group can use it at a time."));
    values.put(
        "onDamagedOffsets",
        flags.constant(
            "--on-damaged-offsets",
            "refuse|earliest|latest",
            OnDamagedOffsets.class,
            "Mode broadcast: what to do if the file of offsets is damaged: refuse to start, or move"
                + " it aside and begin at the earliest or latest message (default: refuse)."));
    values.put(
        "filter",
        flags.repeated(
            "--filter",
            "CONDITION",
            "Consume only messages whose key or header fits: key=VALUE, key^=PREFIX,"
                + " header:NAME=VALUE or header:NAME^=PREFIX; may be repeated. Of several conditions"
                + " on the key, or on one header, one must hold. Nodes leave out the others, which"
                + " count as consumed. All members must agree on it, but not in mode broadcast."));
    values.put(
        "dedup",
        flags.constant(
            "--dedup",
            "key|payload",
            Dedup.class,
            "Among messages with the same key or payload, the group handles one at a time and lets"
                + " one wait; it finishes further ones without handling them (default: off). All"
                + " members must agree. Only in mode sharded."));
    values.put(
        "dedupTimeoutMillis",
        flags.time(
            "--dedup-timeout",
            "With --dedup: a message that takes longer no longer blocks its key, and the waiting"
                + " one goes on (default: 60s)."));
    values.put(
        "rateBy",
        flags.constant(
            "--rate-by",
            "key|payload",
            RateBy.class,
            "What --key-rate limits: messages with the same key, or with the same payload (default:"
                + " key)."));
    values.put(
        "overRate",
        flags.constant(
            "--over-rate",
            "wait|drop-oldest|drop-newest",
            OverRate.class,
            "What happens to messages over --key-rate: wait: all wait; drop-oldest, drop-newest:"
                + " one waits, and the older or newer ones are finished without handling them"
                + " (default: wait). Dropping needs --order key or none."));
    values.put(
        "assignor",
        flags.text(
            "--assignor",
            "NAME",
            "How shards are assigned to members: sticky, load, average, consistent-hash, or another"
                + " assignor that the nodes have. All members must agree (default: the group's,"
                + " else sticky)."));
    values.put(
        "stuckTimeoutMillis",
        flags.time(
            "--stuck-timeout",
            "Lose a shard if its messages are being handled and none finishes for this time"
                + " (default: never)."));
    values.put(
        "lockTimeMillis",
        flags.time(
            "--lock-time",
            "50s",
            "How long a handover waits at most until this member releases a shard"));
    values.put(
        "crashLockTimeMillis",
        flags.time(
            "--crash-lock-time",
            "How long shards of this member stay without an owner after its death (default: not at"
                + " all)."));
    values.put(
        "graceMillis",
        flags.optionalTime(
            "--stable",
            "1m",
            "Come back with the same --member: its shards wait for that time after it has ended"
                + " (default: not at all; without a TIME: 1m)."));
    values.put(
        "order",
        flags.constant(
            "--order",
            "shard|key|none",
            Order.class,
            "Which order to keep: that of a shard, that of a key, or none (default: shard; in mode"
                + " level: none)."));
    values.put(
        "onFailure",
        flags.constant(
            "--on-failure",
            "retry|dead-letter|stop",
            OnFailure.class,
            "retry",
            "What happens to a failed message: retry: try again, then make it a dead letter;"
                + " dead-letter: make it a dead letter; stop: exit with status 1. dead-letter and"
                + " stop retry first if --retry-delays is given"));
    values.put(
        "crashesMax",
        flags.integer(
            "--crashes-max",
            null,
            0,
            Limits.CRASHES_MAX_MOST,
            "After how many deaths of its consumers a message becomes a dead letter: 3 to 1000, or"
                + " 0 for never (default: 5)."));
    values.put(
        "delivery",
        flags.constant(
            "--delivery",
            "at-most-once|at-least-once|effectively-once",
            DeliveryPolicy.class,
            "at-most-once: commit before a message is handled, and never retry; at-least-once:"
                + " commit after it; effectively-once: also commit the state of --on-assign and"
                + " --on-release with the offset, so that it counts each message once (default:"
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
    JsonArray filter = json.getJsonArray("filter");
    if (filter != null) {
      OptionFormats.checked(
          () -> MessageFilter.of(filter.stream().map(String.class::cast).toList()));
    }
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
        printed
            && json.getValue("dedup") == null
            && rate.get() == null
            && groupRate.get() == null
            && !keyRated;
    json.put("parallel", printed ? LINES_WAITING_MAX : parallel.get())
        .put("retryDelaysMillis", retryDelaysMillis());
    ConsumerOptions options =
        new ConsumerOptions(json)
            .setStart(OptionFormats.start("--from", from.get()))
            .setRate(rate.get())
            .setGroupRate(groupRate.get())
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
    ofOwners.put("--crashes-max", mode.equals("broadcast") ? json.getValue("crashesMax") : null);
    ofOwners.put("--on-assign", given.assignCommand());
    ofOwners.put("--on-reshard", given.reshardCommand());
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
    if (given.stateEveryMillis() > 0 && options.getDelivery() != DeliveryPolicy.EFFECTIVELY_ONCE) {
      throw CommandFailure.usage(
          "--state-every stores the state with the offset that it stands for: give --delivery"
              + " effectively-once, too");
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
}
