package dev.evenkeel.cli;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Dedup;
import dev.evenkeel.client.ConsumerOptions.DeliveryPolicy;
import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.client.ConsumerOptions.Order;
import dev.evenkeel.client.internal.member.OptionsCheck;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.settings.SettingType;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The flags of {@code consume} that stand for the library's {@link ConsumerOptions}. */
final class ConsumeOptions {
  /** With printing, which needs no workers, this bounds the lines that wait to be written. */
  private static final int LINES_WAITING_MAX = 4_096;

  /** Each message in hand has a process. */
  private static final int COMMANDS_MAX = 1_024;

  /**
   * The settings that have an option of their own, and only one value, in the order of the help.
   */
  private static final List<String> PLAIN =
      List.of(
          ("member mode range strategy stallTimeoutMillis offsetsDirectory onDamagedOffsets dedup"
                  + " dedupTimeoutMillis rate groupRate keyRate rateBy overRate parallel assignor"
                  + " stuckTimeoutMillis lockTimeMillis crashLockTimeMillis order retryDelaysMillis"
                  + " onFailure crashesMax delivery")
              .split(" "));

  final CommandOptions flags = new CommandOptions();

  /** The values by their keys in the JSON of {@link ConsumerOptions}. */
  private final Map<String, Supplier<?>> values = new LinkedHashMap<>();

  private final Supplier<String> from;

  ConsumeOptions() {
    values.put("group", flags.required(of("group")));
    PLAIN.forEach(key -> values.put(key, flags.of(of(key))));
    values.put("filter", flags.repeated(of("filter")));
    values.put("graceMillis", flags.optional(of("graceMillis"), "1m"));
    from =
        flags.text(
            "--from",
            "earliest|latest|TIMESTAMP",
            "earliest",
            "Where a new group begins. A timestamp is milliseconds since 1970 or a time like"
                + " 2026-01-31T12:00:00Z");
  }

  private static Setting<?> of(String key) {
    return ConsumerOptions.settings().of(key);
  }

  /**
   * @param topic to consume
   * @param given the user's commands, and {@code --max}
   * @throws CommandFailure wrong usage
   */
  ConsumerOptions options(String topic, ConsumeRun.Settings given) {
    JsonObject json = new JsonObject().put("topics", List.of(topic));
    values.forEach((key, value) -> json.put(key, value.get()));
    boolean keyRated = json.getValue("keyRate") != null;
    CommandFailure.refuseIf(
        !keyRated && (json.getValue("rateBy") != null || json.getValue("overRate") != null),
        "--rate-by and --over-rate: only with --key-rate");
    CommandFailure.refuseIf(
        json.getValue("parallel") instanceof Number commands && commands.longValue() > COMMANDS_MAX,
        "--parallel '%s': write a whole number from 1 to %d"
            .formatted(json.getValue("parallel"), COMMANDS_MAX));
    boolean printed = given.execCommand() == null;
    if (printed) {
      json.put("parallel", LINES_WAITING_MAX);
    }
    ConsumerOptions[] read = new ConsumerOptions[1];
    OptionFormats.checked(() -> read[0] = new ConsumerOptions(json));
    ConsumerOptions options = read[0].setStart(OptionFormats.start("--from", from.get()));
    checkModes(json, options.getMode(), given);
    OptionFormats.checked(
        () -> {
          if (options.getMember() != null) {
            Names.check("member", options.getMember());
          }
          OptionsCheck.check(options);
        });
    checkDelivery(options, given);
    // Lines are written in the order in which messages are handed out, which is the shard's, and no
    // line fails alone. So every order holds without waiting for each line, unless a message may
    // wait for its key or its rate while later ones pass.
    boolean unordered =
        printed
            && options.getDedup() == Dedup.OFF
            && options.getRate() == null
            && options.getGroupRate() == null
            && !keyRated;
    return unordered ? options.setOrder(Order.NONE) : options;
  }

  /** Refuses options about the ownership of shards in modes in which members own none. */
  private static void checkModes(JsonObject json, Mode mode, ConsumeRun.Settings given) {
    if (mode != Mode.LEVEL && mode != Mode.BROADCAST) {
      return;
    }
    Map<String, Object> ofOwners = new LinkedHashMap<>();
    for (String key : List.of("assignor", "stuckTimeoutMillis", "crashLockTimeMillis")) {
      ofOwners.put(of(key).option(), json.getValue(key));
    }
    if (mode == Mode.BROADCAST) {
      ofOwners.put(of("crashesMax").option(), json.getValue("crashesMax"));
    }
    ofOwners.put("--on-assign", given.assignCommand());
    ofOwners.put("--on-reshard", given.reshardCommand());
    ofOwners.put("--on-release", given.releaseCommand());
    ofOwners.forEach(
        (option, value) -> {
          CommandFailure.refuseIf(
              value != null,
              "%s: in --mode %s no member owns shards; leave it out, or use --mode sharded"
                  .formatted(option, SettingType.word(mode)));
        });
  }

  private static void checkDelivery(ConsumerOptions options, ConsumeRun.Settings given) {
    boolean state = given.assignCommand() != null && given.releaseCommand() != null;
    CommandFailure.refuseIf(
        options.getDelivery() == DeliveryPolicy.EFFECTIVELY_ONCE
            && (given.execCommand() == null || !state || options.getOrder() != Order.SHARD),
        "--delivery effectively-once: it needs --exec, --on-assign, --on-release and --order"
            + " shard");
    CommandFailure.refuseIf(
        given.stateEveryMillis() > 0 && options.getDelivery() != DeliveryPolicy.EFFECTIVELY_ONCE,
        "--state-every stores the state with the offset that it stands for: give --delivery"
            + " effectively-once, too");
    if (options.getDelivery() != DeliveryPolicy.AT_MOST_ONCE) {
      return;
    }
    CommandFailure.refuseIf(
        given.max() > 0,
        "--delivery at-most-once: not with --max, beyond which messages would be committed and"
            + " not handled");
    CommandFailure.refuseIf(
        given.assignCommand() != null || given.releaseCommand() != null,
        "--delivery at-most-once: not with --on-assign or --on-release");
  }
}
