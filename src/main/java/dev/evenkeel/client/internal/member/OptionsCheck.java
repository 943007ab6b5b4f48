package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Dedup;
import dev.evenkeel.client.ConsumerOptions.DeliveryPolicy;
import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.client.ConsumerOptions.OnFailure;
import dev.evenkeel.client.ConsumerOptions.Order;
import dev.evenkeel.client.ConsumerOptions.OverRate;
import dev.evenkeel.client.ConsumerOptions.RateBy;
import dev.evenkeel.client.ConsumerOptions.Strategy;
import dev.evenkeel.client.ConsumerOptions.WorkerThreads;
import dev.evenkeel.client.internal.consume.HandlerKind;
import dev.evenkeel.client.internal.consume.SelfFence;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.Told;
import dev.evenkeel.protocol.TopicPattern;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.settings.SettingType;
import java.util.Locale;
import java.util.stream.Stream;

/** Checks which {@link ConsumerOptions} are valid, alone and together. */
public final class OptionsCheck {
  private OptionsCheck() {}

  /**
   * @throws RefusedException INVALID, saying what would be right
   */
  public static void check(ConsumerOptions options) {
    Names.check("group", options.getGroup());
    if (options.getMember() != null) {
      Names.checkHolder(options.getMember());
    }
    refuseIf(
        options.getTopics() == null || options.getTopics().isEmpty(),
        "a consumer needs at least one topic");
    options.getTopics().forEach(TopicPattern::check);
    if (options.getStart() != null && options.getStart().kind() == StartAt.Kind.TIMESTAMP) {
      StartAt.checkedMillis(options.getStart().value());
    }
    GroupPolicy policy = policy(options).check();
    broadcast(options, policy);
    mode(options, policy);
    options.check();
    long memberTimeoutMin = SelfFence.MARGIN_MILLIS + 2 * options.getHeartbeatMillis();
    refuseIf(
        options.getMemberTimeoutMillis() < memberTimeoutMin,
        "%s is %d: at least %d is needed",
        of("memberTimeoutMillis"),
        options.getMemberTimeoutMillis(),
        memberTimeoutMin);
    if (options.getAssignor() != null) {
      refuseIf(
          options.getAssignor().isEmpty(),
          "%s needs a name",
          Told.as("an assignor", of("assignor").option()));
      Names.check("assignor", options.getAssignor());
    }
    refuseIf(
        options.getWorkerThreads() == WorkerThreads.VIRTUAL
            && Runtime.version().feature() < Workers.VIRTUAL_FEATURE_MIN,
        "workerThreads is virtual: Java %d has no virtual threads, use Java %d or later, or leave"
            + " it out",
        Runtime.version().feature(),
        Workers.VIRTUAL_FEATURE_MIN);
    failures(options);
    rates(options);
    delivery(options);
  }

  /** The settings that all members of a group must agree on. */
  public static GroupPolicy policy(ConsumerOptions options) {
    Strategy strategy = (Strategy) given(options, "strategy");
    return GroupPolicy.of(
        SettingType.word(options.getMode()),
        (Integer) given(options, "range"),
        strategy == null ? null : SettingType.word(strategy),
        SettingType.word(options.getDedup()));
  }

  /** An option as it was set; null if it was not. */
  static Object given(ConsumerOptions options, String name) {
    return options.given(of(name));
  }

  private static void mode(ConsumerOptions options, GroupPolicy policy) {
    refuseIf(
        options.getMode() != Mode.LEVEL && given(options, "stallTimeoutMillis") != null,
        "%s is given: only %s level has one",
        of("stallTimeoutMillis"),
        of("mode"));
    refuseIf(
        options.getMode() == Mode.SINGLETON && options.getAssignor() != null,
        "%s in %s singleton: one member has all shards",
        Told.as("an assignor", of("assignor").option(), "assignor"),
        of("mode"));
    refuseIf(
        options.getGraceMillis() > 0 && options.getMode() != Mode.SHARDED,
        "%s in %s %s: only %2$s sharded has one",
        of("graceMillis"),
        of("mode"),
        policy.mode());
    refuseIf(
        options.getGraceMillis() > 0 && options.getMember() == null,
        "%s needs %s, which its next run has, too",
        of("graceMillis"),
        Told.as("a name of the member", of("member").option() + " NAME"));
    boolean dedup = options.getDedup() != Dedup.OFF;
    refuseIf(
        dedup && options.getMode() != Mode.SHARDED,
        "%s in %s %s: only %2$s sharded has it, leave it off",
        of("dedup"),
        of("mode"),
        policy.mode());
    refuseIf(
        !dedup && given(options, "dedupTimeoutMillis") != null,
        "%s is given: without %s nothing has one",
        of("dedupTimeoutMillis"),
        of("dedup"));
  }

  private static void broadcast(ConsumerOptions options, GroupPolicy policy) {
    String directory = options.getOffsetsDirectory();
    if (options.getMode() != Mode.BROADCAST) {
      refuseIf(
          directory != null || given(options, "onDamagedOffsets") != null,
          "%s for %s broadcast: in %2$s %s the log keeps them",
          Told.as(
              "offsets in a directory are",
              of("offsetsDirectory").option() + " and " + of("onDamagedOffsets").option() + " are"),
          of("mode"),
          policy.mode());
      return;
    }
    refuseIf(
        directory == null || directory.isEmpty(),
        "%s broadcast needs %s",
        of("mode"),
        Told.as(
            "a directory of its own for its offsets",
            of("offsetsDirectory").option() + " DIR, where it keeps them"));
    refuseIf(
        options.getOnFailure() == OnFailure.DEAD_LETTER,
        "%s %s in %s broadcast: there are no dead letters, use %s or %s",
        of("onFailure"),
        OnFailure.DEAD_LETTER,
        of("mode"),
        OnFailure.RETRY,
        OnFailure.STOP);
  }

  private static void failures(ConsumerOptions options) {
    refuseIf(
        options.getOnFailure() == null,
        "%s is null: use %s, %s or %s",
        of("onFailure"),
        OnFailure.RETRY,
        OnFailure.DEAD_LETTER,
        OnFailure.STOP);
    refuseIf(
        options.getMode() == Mode.LEVEL && options.getOnFailure() == OnFailure.STOP,
        "%s %s in %s level: only the other modes have it, use %s or %s",
        of("onFailure"),
        OnFailure.STOP,
        of("mode"),
        OnFailure.RETRY,
        OnFailure.DEAD_LETTER);
  }

  private static void rates(ConsumerOptions options) {
    boolean drops = options.getOverRate() != OverRate.WAIT;
    refuseIf(
        options.getKeyRate() == null && (drops || options.getRateBy() != RateBy.KEY),
        "%s and %s need a %s: set one, or leave them out",
        of("rateBy"),
        of("overRate"),
        of("keyRate"));
    if (options.getRate() != null
        || options.getKeyRate() != null
        || options.getGroupRate() != null) {
      refuseIf(
          options.getMode() == Mode.LEVEL,
          "%s in %s level: only the other modes have them, leave them out",
          Told.as("rates", of("rate").option() + " and " + of("keyRate").option()),
          of("mode"));
      refuseIf(
          drops && options.getDedup() != Dedup.OFF,
          "%s drops together with %s: messages must wait for %2$s, use %s",
          of("overRate"),
          of("dedup"),
          OverRate.WAIT);
      refuseIf(
          drops && options.getOrder() == Order.SHARD,
          "%s drops nothing with %s %s: nothing passes one that waits, use %s or %s",
          of("overRate"),
          of("order"),
          Order.SHARD,
          Order.KEY,
          Order.NONE);
    }
  }

  private static void delivery(ConsumerOptions options) {
    DeliveryPolicy delivery = options.getDelivery();
    refuseIf(
        delivery == null, "delivery is null: use AT_MOST_ONCE, AT_LEAST_ONCE or EFFECTIVELY_ONCE");
    if (delivery == DeliveryPolicy.AT_LEAST_ONCE) {
      return;
    }
    refuseIf(
        options.getMode() != Mode.SHARDED,
        delivery,
        "only %s sharded has it, use at-least-once in others",
        of("mode"));
    refuseIf(
        options.getDedup() != Dedup.OFF,
        delivery,
        "%s finishes messages without their handler, leave it off",
        of("dedup"));
    refuseIf(
        delivery == DeliveryPolicy.AT_MOST_ONCE
            && (!options.getRetryDelaysMillis().isEmpty()
                || options.getOnFailure() != OnFailure.RETRY),
        delivery,
        "nothing is tried again, leave %s and %s out",
        Told.as("retryDelays", of("retryDelaysMillis").option(), "retryDelaysMillis"),
        of("onFailure"));
  }

  /**
   * Checks which handlers go with which options.
   *
   * @throws RefusedException INVALID, saying what would be right
   */
  static void check(ConsumerOptions options, ConsumerHandler handler) {
    DeliveryPolicy delivery = options.getDelivery();
    boolean atMostOnce = delivery == DeliveryPolicy.AT_MOST_ONCE;
    HandlerKind kind = HandlerKind.of(handler);
    boolean state = kind.keepsState();
    boolean context = kind.publishes();
    refuseIf(
        context && (options.getMode() != Mode.SHARDED || options.getDedup() != Dedup.OFF),
        "a handler with a context works in %s sharded and without %s",
        of("mode"),
        of("dedup"));
    refuseIf(
        context && atMostOnce,
        delivery,
        "messages that the handler publishes would be lost, use at-least-once");
    refuseIf(
        state && atMostOnce,
        delivery,
        "the state would begin again at its own offset, use effectively-once");
    if (delivery == DeliveryPolicy.EFFECTIVELY_ONCE) {
      refuseIf(
          !context && !(state && kind.givesState()),
          delivery,
          "the handler must publish through its context or keep state, or use at-least-once");
      refuseIf(
          state && options.getOrder() != Order.SHARD,
          delivery,
          "the state stands for all messages below an offset, use %s shard",
          of("order"));
    }
    batches(options, kind.batches(), context);
    refuseIf(
        options.getMode() == Mode.BROADCAST && state && kind.givesState(),
        "a handler with state in mode broadcast: let its keepsState return false");
  }

  private static void batches(ConsumerOptions options, boolean batches, boolean context) {
    if (!batches) {
      refuseIf(
          given(options, "batchMessages") != null,
          "batchMessages is given: only a BatchHandler has them");
      return;
    }
    refuseIf(context, "a handler of batches with a context: a context is of one message");
    refuseIf(
        options.getMode() == Mode.LEVEL,
        "a handler of batches in mode level: only the other modes have batches");
    refuseIf(
        options.getOrder() == Order.KEY, "a handler of batches with order key: use shard or none");
    refuseIf(
        options.getDedup() != Dedup.OFF || options.getKeyRate() != null,
        "a handler of batches with dedup or a keyRate: these let single messages begin, leave them"
            + " out");
    refuseIf(
        options.getDelivery() == DeliveryPolicy.AT_MOST_ONCE,
        options.getDelivery(),
        "a batch that fails would be lost as a whole, use a handler of single messages");
  }

  private static void refuseIf(
      boolean wrong, DeliveryPolicy delivery, String format, Object... values) {
    if (wrong) {
      String name = delivery.name().toLowerCase(Locale.ROOT).replace('_', '-');
      throw Refusal.INVALID.error("%s %s: %s", of("delivery"), name, Told.text(format, values));
    }
  }

  /** Values that are constants have their words. */
  private static void refuseIf(boolean wrong, String format, Object... values) {
    if (wrong) {
      throw Refusal.INVALID.error(format, Stream.of(values).map(OptionsCheck::told).toArray());
    }
  }

  private static Object told(Object value) {
    return value instanceof Enum<?> constant
        ? Told.as(constant.name(), SettingType.word(constant).replace('_', '-'))
        : value;
  }

  private static Setting<?> of(String key) {
    return ConsumerOptions.settings().of(key);
  }
}
