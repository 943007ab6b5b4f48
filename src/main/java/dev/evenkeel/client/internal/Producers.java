package dev.evenkeel.client.internal;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.EventLoops;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.Router;
import dev.evenkeel.client.Source;
import dev.evenkeel.client.SpoolingProducer;
import dev.evenkeel.client.internal.produce.AckGate;
import dev.evenkeel.client.internal.produce.BatchingProducer;
import dev.evenkeel.client.internal.produce.EpochOpener;
import dev.evenkeel.client.internal.spool.SpoolStart;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.BatchPacker;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;

/** Starts producers. */
public final class Producers {
  /** Longest wait for the cluster when a producer starts. */
  private static final long START_TIMEOUT_MILLIS = 30_000;

  /** How often to look up a topic: a node may learn of a new topic later than its creator. */
  private static final int TOPIC_LOOK_UPS = 6;

  private static final long TOPIC_PAUSE_MILLIS = 300;

  private Producers() {}

  /** As {@link #start(Link, ClusterDirectory, ProducerOptions, Router)}, with the usual routing. */
  public static Future<Producer> start(
      Link link, ClusterDirectory directory, ProducerOptions options) {
    return start(link, directory, options, null);
  }

  /**
   * Starts a producer on the caller's context of {@code link.vertx()}, or one of its own; with a
   * spool, a {@link SpoolingProducer}. Fails with {@code RefusedException}: INVALID for bad
   * options, UNKNOWN_TOPIC, or UNAVAILABLE if the cluster does not answer within 30 s or the
   * delivery timeout, whichever is less.
   *
   * @param router null: murmur2 of the key, or round robin by batch for messages without one
   */
  public static Future<Producer> start(
      Link link, ClusterDirectory directory, ProducerOptions options, Router router) {
    if (!options.getSpool().isEmpty()) {
      return startSpooling(link, directory, options, router, null).map(producer -> producer);
    }
    return prepare(
        link,
        directory,
        options,
        (opener, own, info, timeoutMillis) -> {
          ContextInternal context = EventLoops.ownOf(link.vertx());
          return opener
              .first(timeoutMillis)
              .compose(
                  identity -> {
                    Promise<Producer> made = context.promise();
                    context.runOnContext(
                        none ->
                            made.complete(
                                new BatchingProducer(
                                    link, directory, own, router, opener, identity, info)));
                    return made.future();
                  });
        });
  }

  /**
   * As {@link #start}, for options with a spool. Fails with INVALID, too, if the spool is in use or
   * is another's, and with CORRUPT if it is damaged elsewhere than at its end.
   *
   * @param source what messages are read from, if it can be read again; null: they cannot
   */
  public static Future<SpoolingProducer> startSpooling(
      Link link,
      ClusterDirectory directory,
      ProducerOptions options,
      Router router,
      Source source) {
    return prepare(
        link,
        directory,
        options,
        (opener, own, info, timeoutMillis) ->
            new SpoolStart(link, directory, own, router, source, opener)
                .start(info, timeoutMillis));
  }

  /** Makes a producer once the topic is known, on the context of the producer. */
  private interface Maker<P> {
    /**
     * @param own a copy of the options, so that the caller can go on using its own
     */
    Future<P> make(EpochOpener opener, ProducerOptions own, TopicInfo info, long timeoutMillis);
  }

  private static <P> Future<P> prepare(
      Link link, ClusterDirectory directory, ProducerOptions options, Maker<P> maker) {
    long timeoutMillis;
    ProducerOptions own;
    try {
      Names.check("topic", options.getTopic());
      if (!options.getName().isEmpty()) {
        Names.check("producer", options.getName());
      }
      AckGate.check(options);
      options.check();
      // Loads the library, or says that it is missing.
      BatchPacker.of(options.getCompression());
      own = new ProducerOptions(options.toJson());
      timeoutMillis = Math.min(START_TIMEOUT_MILLIS, options.getDeliveryTimeoutMillis());
    } catch (RefusedException refused) {
      return Future.failedFuture(refused);
    }
    EpochOpener opener = new EpochOpener(link, directory, own.getName());
    LeaderClient.Retry retry =
        LeaderClient.Retry.within(
            timeoutMillis, TOPIC_PAUSE_MILLIS, () -> link.state() == Link.State.CLOSED);
    ContextInternal context = EventLoops.ownOf(link.vertx());
    // Not the unwrapped one: what the caller does next belongs to its request, as for its trace.
    ContextInternal caller = ContextInternal.current();
    Promise<P> made = caller == null ? context.promise() : caller.promise();
    new LeaderClient(link, directory)
        .repeat(
            retry,
            () ->
                // Another client may have deleted and created the topic again.
                directory
                    .newest()
                    .transform(any -> topic(link, directory, own.getTopic(), TOPIC_LOOK_UPS)))
        .onFailure(made::fail)
        // Others may have asked for the view, on contexts of their own.
        .onSuccess(
            info ->
                context.runOnContext(
                    none -> maker.make(opener, own, info, timeoutMillis).onComplete(made)));
    return made.future();
  }

  private static Future<TopicInfo> topic(
      Link link, ClusterDirectory directory, String name, int lookUps) {
    ClusterView seen = directory.current();
    TopicInfo known = seen == null ? null : seen.topic(name);
    if (known != null) {
      return Future.succeededFuture(known);
    }
    if (seen != null && (lookUps == 0 || !seen.caughtUp())) {
      return Future.failedFuture(seen.missing(name));
    }
    return directory
        .refresh()
        .compose(
            view ->
                view.topic(name) != null || lookUps == 1
                    ? Future.succeededFuture()
                    : link.vertx().timer(TOPIC_PAUSE_MILLIS).mapEmpty())
        .compose(waited -> topic(link, directory, name, lookUps - 1));
  }
}
