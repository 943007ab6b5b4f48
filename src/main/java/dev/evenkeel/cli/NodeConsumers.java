package dev.evenkeel.cli;

import dev.evenkeel.bus.EventLoops;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.internal.member.AddressHandler;
import dev.evenkeel.client.internal.member.ConsumerConfig;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.Backoff;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The consumers that a node runs: each sends messages to an address of the event bus. One that
 * cannot join, or has ended by itself, comes back after a while.
 */
final class NodeConsumers {
  private static final Logger LOG = LoggerFactory.getLogger(NodeConsumers.class);

  /** How long a consumer that ends waits for replies. */
  private static final long REPLY_MILLIS_MAX = 3_000;

  /** If a consumer ends after it has run for this time, its pauses begin anew. */
  private static final long RAN_WELL_MILLIS = 60_000;

  /** After another member has taken the name: they would take it from each other in turn. */
  private static final long REPLACED_PAUSE_MILLIS = 300_000;

  private final EvenkeelClient client;
  private final List<Kept> all = new ArrayList<>();
  private volatile boolean closed;

  NodeConsumers(EvenkeelClient client, List<ConsumerConfig> configs) {
    this.client = client;
    configs.forEach(each -> all.add(new Kept(each)));
  }

  /**
   * Reads the setting.
   *
   * @throws CommandFailure wrong usage, naming the entry
   */
  static List<ConsumerConfig> configs(List<JsonObject> given) {
    List<ConsumerConfig> configs = new ArrayList<>();
    Set<String> members = new HashSet<>();
    for (JsonObject each : given) {
      String entry = NodeOptions.CONSUMERS + ", entry " + (configs.size() + 1) + ": ";
      try {
        // Without an address, the refusal below says what is missing.
        JsonObject asked = each.containsKey("address") ? each : each.copy().put("handler", "");
        ConsumerConfig config = ConsumerConfig.of(asked);
        if (config.address() == null) {
          throw Refusal.INVALID.error(
              "name an 'address' of the event bus: a node has no handler classes");
        }
        config.check();
        ConsumerOptions options = config.options();
        CommandFailure.refuseIf(
            options.getMember() != null
                && !members.add(options.getGroup() + " " + options.getMember()),
            "%sgroup %s has the member '%s' already: name another one"
                .formatted(entry, options.getGroup(), options.getMember()));
        configs.add(config);
      } catch (RefusedException e) {
        throw CommandFailure.usage(entry + e.told().ofPrograms());
      }
    }
    return configs;
  }

  /** Lets all of them join. */
  void start() {
    all.forEach(Kept::start);
  }

  /**
   * Releases all shards and leaves the groups. It waits a few seconds for replies, and then gives
   * the messages without one back.
   */
  Future<Void> close() {
    closed = true;
    return Future.join(all.stream().map(Kept::close).toList()).mapEmpty();
  }

  /**
   * How long to wait before a consumer joins again.
   *
   * @param why it has ended, or could not join
   * @param failures in a row, with this one
   */
  static long pauseMillis(RefusedException why, int failures) {
    return why.refusal() == Refusal.MEMBER_REPLACED
        ? REPLACED_PAUSE_MILLIS
        : Backoff.steps(failures);
  }

  /** One of them. Everything but its end runs on its context, which no verticle takes away. */
  private final class Kept {
    private final ConsumerConfig config;
    private final Vertx vertx = client.vertx();
    private final Context context = EventLoops.forHandlers(vertx);
    private final AddressHandler handler;
    private volatile Consumer consumer;
    private long joinedMillis;
    private int failures;
    private String told = "";

    Kept(ConsumerConfig config) {
      this.config = config;
      handler = config.address().handler(vertx, config.options());
    }

    void start() {
      context.runOnContext(none -> join());
    }

    private void join() {
      if (closed) {
        return;
      }
      client
          .consumer(config.options(), handler)
          .onComplete(
              joined ->
                  context.runOnContext(
                      none -> {
                        if (joined.succeeded()) {
                          joined(joined.result());
                        } else {
                          again("cannot join", RefusedException.of(joined.cause()));
                        }
                      }));
    }

    private void joined(Consumer started) {
      consumer = started;
      joinedMillis = MonotonicClock.millis();
      LOG.info("{} has joined as {}", this, started.member());
      if (closed) {
        handler.close(started, REPLY_MILLIS_MAX);
      } else {
        started.onEnd(why -> context.runOnContext(none -> ended(RefusedException.of(why))));
      }
    }

    private void ended(RefusedException why) {
      if (MonotonicClock.millis() - joinedMillis >= RAN_WELL_MILLIS) {
        failures = 0;
        // Two that take the name from each other would say so for ever.
        told = why.refusal() == Refusal.MEMBER_REPLACED ? told : "";
      }
      again("has ended", why);
    }

    private void again(String what, RefusedException why) {
      if (closed) {
        return;
      }
      failures++;
      String text = what + ": " + why;
      if (!text.equals(told)) {
        told = text;
        LOG.warn("{} {}; it is tried again from time to time", this, text);
      }
      vertx.setTimer(pauseMillis(why, failures), timer -> join());
    }

    Future<Void> close() {
      Consumer last = consumer;
      return last == null ? Future.succeededFuture() : handler.close(last, REPLY_MILLIS_MAX);
    }

    @Override
    public String toString() {
      return "the consumer of group %s for the address '%s'"
          .formatted(config.options().getGroup(), handler.address());
    }
  }
}
