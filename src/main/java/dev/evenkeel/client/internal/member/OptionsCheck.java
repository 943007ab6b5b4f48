package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.internal.consume.SelfFence;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;
import java.util.Locale;

/** What {@link ConsumerOptions} may say. */
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
    if (options.getTopics() == null || options.getTopics().isEmpty()) {
      throw new RefusedException(Refusal.INVALID, "a consumer needs at least one topic");
    }
    options.getTopics().forEach(topic -> Names.check("topic", topic));
    mode(options);
    options.check();
    long memberTimeoutMin = SelfFence.MARGIN_MILLIS + 2 * options.getHeartbeatMillis();
    if (options.getMemberTimeoutMillis() < memberTimeoutMin) {
      throw new RefusedException(
          Refusal.INVALID,
          "memberTimeoutMillis is "
              + options.getMemberTimeoutMillis()
              + ": at least "
              + memberTimeoutMin
              + " is needed");
    }
    if (options.getAssignor() != null) {
      Names.check("assignor", options.getAssignor());
    }
    failures(options);
    rates(options);
    delivery(options);
  }

  private static void rates(ConsumerOptions options) {
    boolean drops = options.getOverRate() != ConsumerOptions.OverRate.WAIT;
    if (options.getKeyRate() == null
        && (drops || options.getRateBy() != ConsumerOptions.RateBy.KEY)) {
      throw new RefusedException(
          Refusal.INVALID, "rateBy and overRate are about a keyRate: set one, or leave them out");
    }
    if (options.getRate() == null && options.getKeyRate() == null) {
      return;
    }
    if (options.getMode() == ConsumerOptions.Mode.LEVEL) {
      throw new RefusedException(
          Refusal.INVALID, "rates in mode level: all other modes have them, leave them out");
    }
    if (drops && options.getDedup() != ConsumerOptions.Dedup.OFF) {
      throw new RefusedException(
          Refusal.INVALID,
          "overRate drops together with dedup: a message that waits stands for those that dedup"
              + " declines, so use WAIT");
    }
    if (drops && options.getOrder() == ConsumerOptions.Order.SHARD) {
      throw new RefusedException(
          Refusal.INVALID,
          "overRate drops nothing with order SHARD, in which nothing passes one that waits: use KEY"
              + " or NONE");
    }
  }

  private static void delivery(ConsumerOptions options) {
    ConsumerOptions.DeliveryPolicy delivery = options.getDelivery();
    if (delivery == null) {
      throw new RefusedException(
          Refusal.INVALID, "delivery is null: use AT_MOST_ONCE, AT_LEAST_ONCE or EFFECTIVELY_ONCE");
    }
    if (delivery == ConsumerOptions.DeliveryPolicy.AT_LEAST_ONCE) {
      return;
    }
    if (options.getMode() != ConsumerOptions.Mode.SHARDED) {
      throw invalid(delivery, "only mode sharded has it, in others use at-least-once");
    }
    if (options.getDedup() != ConsumerOptions.Dedup.OFF) {
      throw invalid(delivery, "dedup finishes messages without their handler, leave it off");
    }
    if (delivery == ConsumerOptions.DeliveryPolicy.AT_MOST_ONCE
        && (!options.getRetryDelaysMillis().isEmpty()
            || options.getOnFailure() != ConsumerOptions.OnFailure.RETRY)) {
      throw invalid(delivery, "nothing is tried again, leave retryDelays and onFailure out");
    }
  }

  /** What all members of the group must agree on. */
  public static GroupPolicy policy(ConsumerOptions options) {
    JsonObject json = options.toJson();
    return GroupPolicy.of(
        json.getString("mode"),
        json.getInteger("range"),
        json.getString("strategy"),
        json.getString("dedup"));
  }

  /** An option as it was set, or null if it was not. */
  static Object given(ConsumerOptions options, String name) {
    return options.toJson().getValue(name);
  }

  /**
   * What the handler and the options may not be together.
   *
   * @throws RefusedException INVALID, saying what would be right
   */
  static void check(ConsumerOptions options, ConsumerHandler handler) {
    ConsumerOptions.DeliveryPolicy delivery = options.getDelivery();
    boolean atMostOnce = delivery == ConsumerOptions.DeliveryPolicy.AT_MOST_ONCE;
    if (handler.usesContext()) {
      if (options.getMode() != ConsumerOptions.Mode.SHARDED
          || options.getDedup() != ConsumerOptions.Dedup.OFF) {
        throw new RefusedException(
            Refusal.INVALID, "a handler with a context works in mode sharded and without dedup");
      }
      if (atMostOnce) {
        throw invalid(delivery, "what the handler publishes would be lost, use at-least-once");
      }
    }
    if (atMostOnce && handler.keepsState()) {
      throw invalid(delivery, "a state begins at its own offset again, use effectively-once");
    }
    if (delivery == ConsumerOptions.DeliveryPolicy.EFFECTIVELY_ONCE) {
      boolean state = handler.keepsState();
      if (!handler.usesContext() && !(state && handler.givesState())) {
        throw invalid(
            delivery,
            "the handler must publish through its context, or make use of state; else use"
                + " at-least-once");
      }
      if (state && options.getOrder() != ConsumerOptions.Order.SHARD) {
        throw invalid(delivery, "a state stands for all below an offset, use order shard");
      }
    }
  }

  private static RefusedException invalid(ConsumerOptions.DeliveryPolicy delivery, String text) {
    return new RefusedException(
        Refusal.INVALID,
        "delivery " + delivery.name().toLowerCase(Locale.ROOT).replace('_', '-') + ": " + text);
  }

  private static void failures(ConsumerOptions options) {
    if (options.getOnFailure() == null) {
      throw new RefusedException(
          Refusal.INVALID, "onFailure is null: use RETRY, DEAD_LETTER or STOP");
    }
    if (options.getMode() == ConsumerOptions.Mode.LEVEL
        && options.getOnFailure() == ConsumerOptions.OnFailure.STOP) {
      throw new RefusedException(
          Refusal.INVALID,
          "onFailure STOP in mode level: what fails there is dealt again to any member, use RETRY"
              + " or DEAD_LETTER");
    }
  }

  private static void mode(ConsumerOptions options) {
    if (options.getMode() == null || options.getDedup() == null) {
      throw new RefusedException(Refusal.INVALID, "a consumer needs a mode and a dedup");
    }
    policy(options).check();
    broadcast(options);
    if (options.getMode() != ConsumerOptions.Mode.LEVEL
        && given(options, "stallTimeoutMillis") != null) {
      throw new RefusedException(
          Refusal.INVALID, "stallTimeoutMillis is given: only mode level has one");
    }
    if (options.getMode() == ConsumerOptions.Mode.SINGLETON && options.getAssignor() != null) {
      throw new RefusedException(
          Refusal.INVALID, "an assignor in mode singleton: one member has all shards");
    }
    boolean dedup = options.getDedup() != ConsumerOptions.Dedup.OFF;
    if (dedup && options.getMode() != ConsumerOptions.Mode.SHARDED) {
      throw new RefusedException(
          Refusal.INVALID,
          "dedup in mode " + policy(options).mode() + ": only mode sharded has it, leave it off");
    }
    if (!dedup && given(options, "dedupTimeoutMillis") != null) {
      throw new RefusedException(
          Refusal.INVALID, "dedupTimeoutMillis is given: without dedup nothing has one");
    }
  }

  private static void broadcast(ConsumerOptions options) {
    String directory = options.getOffsetsDirectory();
    if (options.getMode() != ConsumerOptions.Mode.BROADCAST) {
      if (directory != null || given(options, "onDamagedOffsets") != null) {
        throw new RefusedException(
            Refusal.INVALID,
            "offsets in a directory are for mode broadcast: in mode "
                + policy(options).mode()
                + " the log keeps them");
      }
      return;
    }
    if (directory == null || directory.isEmpty()) {
      throw new RefusedException(
          Refusal.INVALID, "mode broadcast needs a directory of its own for its offsets");
    }
    if (options.getOnFailure() == ConsumerOptions.OnFailure.DEAD_LETTER) {
      throw new RefusedException(
          Refusal.INVALID,
          "onFailure DEAD_LETTER in mode broadcast: there are no dead letters, use RETRY, which"
              + " passes over what fails in the end, or STOP");
    }
  }
}
