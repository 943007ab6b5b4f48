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
import dev.evenkeel.client.ConsumerOptions.WorkerThreads;
import dev.evenkeel.client.internal.consume.SelfFence;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicPattern;
import io.vertx.core.json.JsonObject;
import java.util.Locale;

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
    refuseIf(
        options.getMode() == null || options.getDedup() == null,
        "a consumer needs a mode and a dedup");
    GroupPolicy policy = policy(options).check();
    broadcast(options, policy);
    mode(options, policy);
    options.check();
    long memberTimeoutMin = SelfFence.MARGIN_MILLIS + 2 * options.getHeartbeatMillis();
    refuseIf(
        options.getMemberTimeoutMillis() < memberTimeoutMin,
        "memberTimeoutMillis is %d: at least %d is needed",
        options.getMemberTimeoutMillis(),
        memberTimeoutMin);
    if (options.getAssignor() != null) {
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
    JsonObject json = options.toJson();
    return GroupPolicy.of(
        json.getString("mode"),
        json.getInteger("range"),
        json.getString("strategy"),
        json.getString("dedup"));
  }

  /** An option as it was set; null if it was not. */
  static Object given(ConsumerOptions options, String name) {
    return options.toJson().getValue(name);
  }

  private static void mode(ConsumerOptions options, GroupPolicy policy) {
    refuseIf(
        options.getMode() != Mode.LEVEL && given(options, "stallTimeoutMillis") != null,
        "stallTimeoutMillis is given: only mode level has one");
    refuseIf(
        options.getMode() == Mode.SINGLETON && options.getAssignor() != null,
        "an assignor in mode singleton: one member has all shards");
    refuseIf(
        options.getGraceMillis() > 0 && options.getMode() != Mode.SHARDED,
        "graceMillis in mode %s: only mode sharded has one",
        policy.mode());
    refuseIf(
        options.getGraceMillis() > 0 && options.getMember() == null,
        "graceMillis needs a name of the member, which its next run has, too");
    boolean dedup = options.getDedup() != Dedup.OFF;
    refuseIf(
        dedup && options.getMode() != Mode.SHARDED,
        "dedup in mode %s: only mode sharded has it, leave it off",
        policy.mode());
    refuseIf(
        !dedup && given(options, "dedupTimeoutMillis") != null,
        "dedupTimeoutMillis is given: without dedup nothing has one");
  }

  private static void broadcast(ConsumerOptions options, GroupPolicy policy) {
    String directory = options.getOffsetsDirectory();
    if (options.getMode() != Mode.BROADCAST) {
      refuseIf(
          directory != null || given(options, "onDamagedOffsets") != null,
          "offsets in a directory are for mode broadcast: in mode %s the log keeps them",
          policy.mode());
      return;
    }
    refuseIf(
        directory == null || directory.isEmpty(),
        "mode broadcast needs a directory of its own for its offsets");
    refuseIf(
        options.getOnFailure() == OnFailure.DEAD_LETTER,
        "onFailure DEAD_LETTER in mode broadcast: there are no dead letters, use RETRY or STOP");
  }

  private static void failures(ConsumerOptions options) {
    refuseIf(options.getOnFailure() == null, "onFailure is null: use RETRY, DEAD_LETTER or STOP");
    int crashesMax = options.getCrashesMax();
    refuseIf(
        crashesMax != 0 && crashesMax < Limits.CRASHES_MAX_LEAST,
        "crashesMax %s: from the third death on it is known which message is the reason, use 0 for"
            + " never or 3 to 1000",
        crashesMax);
    refuseIf(
        options.getMode() == Mode.LEVEL && options.getOnFailure() == OnFailure.STOP,
        "onFailure STOP in mode level: only the other modes have it, use RETRY or DEAD_LETTER");
  }

  private static void rates(ConsumerOptions options) {
    boolean drops = options.getOverRate() != OverRate.WAIT;
    refuseIf(
        options.getKeyRate() == null && (drops || options.getRateBy() != RateBy.KEY),
        "rateBy and overRate need a keyRate: set one, or leave them out");
    if (options.getRate() != null
        || options.getKeyRate() != null
        || options.getGroupRate() != null) {
      refuseIf(
          options.getMode() == Mode.LEVEL,
          "rates in mode level: only the other modes have them, leave them out");
      refuseIf(
          drops && options.getDedup() != Dedup.OFF,
          "overRate drops together with dedup: messages must wait for dedup, use WAIT");
      refuseIf(
          drops && options.getOrder() == Order.SHARD,
          "overRate drops nothing with order SHARD: nothing passes one that waits, use KEY or"
              + " NONE");
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
        "only mode sharded has it, use at-least-once in others");
    refuseIf(
        options.getDedup() != Dedup.OFF,
        delivery,
        "dedup finishes messages without their handler, leave it off");
    refuseIf(
        delivery == DeliveryPolicy.AT_MOST_ONCE
            && (!options.getRetryDelaysMillis().isEmpty()
                || options.getOnFailure() != OnFailure.RETRY),
        delivery,
        "nothing is tried again, leave retryDelays and onFailure out");
  }

  /**
   * Checks which handlers go with which options.
   *
   * @throws RefusedException INVALID, saying what would be right
   */
  static void check(ConsumerOptions options, ConsumerHandler handler) {
    DeliveryPolicy delivery = options.getDelivery();
    boolean atMostOnce = delivery == DeliveryPolicy.AT_MOST_ONCE;
    boolean state = handler.keepsState();
    boolean context = handler.usesContext();
    refuseIf(
        context && (options.getMode() != Mode.SHARDED || options.getDedup() != Dedup.OFF),
        "a handler with a context works in mode sharded and without dedup");
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
          !context && !(state && handler.givesState()),
          delivery,
          "the handler must publish through its context or keep state, or use at-least-once");
      refuseIf(
          state && options.getOrder() != Order.SHARD,
          delivery,
          "the state stands for all messages below an offset, use order shard");
    }
    batches(options, handler.handlesBatches(), context);
    refuseIf(
        options.getMode() == Mode.BROADCAST && state && handler.givesState(),
        "a handler with state in mode broadcast: let its keepsState return false");
  }

  private static void batches(ConsumerOptions options, boolean batches, boolean context) {
    if (!batches) {
      refuseIf(
          given(options, "batchMessages") != null,
          "batchMessages is given: only a handler of batches has them, override handleBatch");
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

  private static void refuseIf(boolean wrong, DeliveryPolicy delivery, String text) {
    if (wrong) {
      String name = delivery.name().toLowerCase(Locale.ROOT).replace('_', '-');
      throw new RefusedException(Refusal.INVALID, "delivery %s: %s", name, text);
    }
  }

  private static void refuseIf(boolean wrong, String format, Object... values) {
    if (wrong) {
      throw new RefusedException(Refusal.INVALID, format, values);
    }
  }
}
