package dev.evenkeel.client.internal.spool;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.EventLoops;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.Router;
import dev.evenkeel.client.Source;
import dev.evenkeel.client.SpoolingProducer;
import dev.evenkeel.client.internal.produce.EpochOpener;
import dev.evenkeel.client.internal.produce.core.ShardChoice;
import dev.evenkeel.client.internal.spool.log.SpoolIntake;
import dev.evenkeel.client.internal.spool.log.SpoolLog;
import dev.evenkeel.client.internal.spool.log.SpoolRecord;
import dev.evenkeel.client.internal.spool.log.SpoolState;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.TopicInfo;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/** Opens or creates a spool, and starts the producer with it. */
public final class SpoolStart {
  private final Link link;
  private final ClusterDirectory directory;
  private final ProducerOptions options;
  private final Router router;
  private final Source source;
  private final EpochOpener opener;
  private final ContextInternal context;
  private final SpoolDisk disk;

  /** What is known of the spool once the own run has begun in it. */
  record Begun(SpoolLog log, SpoolWindow window, boolean behind, SpoolingProducer.Opened found) {
    /** To be read before the first message is accepted: later the disk's thread writes to it. */
    SpoolState state() {
      return log.state();
    }
  }

  /**
   * @param source null: nothing that can be read again
   * @throws RefusedException INVALID for bad options
   */
  public SpoolStart(
      Link link,
      ClusterDirectory directory,
      ProducerOptions options,
      Router router,
      Source source,
      EpochOpener opener) {
    this.link = link;
    this.directory = directory;
    this.options = options;
    this.router = router == null ? null : oneAtATime(router);
    this.source = source;
    this.opener = opener;
    context = EventLoops.ownOf(link.vertx());
    disk = new SpoolDisk(context, options);
  }

  /** Those who send call it, and the producer for what it sends again. */
  private static Router oneAtATime(Router router) {
    return (message, shards) -> {
      synchronized (router) {
        return router.route(message, shards);
      }
    };
  }

  public Future<SpoolingProducer> start(TopicInfo topic, long timeoutMillis) {
    return disk.open(options.isSpoolRestart())
        .compose(
            log ->
                log.state() == null
                    ? opener
                        .first(timeoutMillis)
                        .compose(identity -> disk.run(none -> make(log, topic, identity)))
                    : disk.run(none -> goOn(log, topic)))
        .map(begun -> producer(topic, begun))
        .recover(failure -> disk.close().transform(closed -> Future.failedFuture(failure)));
  }

  private Begun make(SpoolLog log, TopicInfo topic, EpochOpener.Opened identity)
      throws IOException {
    log.create(
        new SpoolState.Identity(
            topic.name(),
            topic.id(),
            topic.createdMillis(),
            options.getName(),
            identity.producerId()));
    log.append(new SpoolRecord.Run(1, true, source));
    log.append(new SpoolRecord.Opened(1, identity.producerId(), identity.epoch(), Map.of()));
    log.force();
    return begun(log);
  }

  private Begun goOn(SpoolLog log, TopicInfo topic) throws IOException {
    SpoolState state = log.state();
    SpoolState.Identity identity = state.identity();
    boolean sameTopic = identity.topic().equals(topic.name());
    if (sameTopic
        && (identity.topicId() != topic.id()
            || identity.topicCreatedMillis() != topic.createdMillis())) {
      throw refused(
          "holds messages for a topic '"
              + topic.name()
              + "' that was deleted: there is another topic of that name now");
    }
    if (!sameTopic || !identity.producerName().equals(options.getName())) {
      throw refused(
          "is of topic '"
              + identity.topic()
              + "' and "
              + (identity.producerName().isEmpty()
                  ? "a producer without a name"
                  : "producer '" + identity.producerName() + "'"));
    }
    Source known = state.source();
    boolean unfinished = known != null && !state.position().complete();
    boolean same = source != null && known != null && source.continues(known);
    if (unfinished && !same) {
      boolean renamed = source != null && source.name().equals(known.name());
      throw refused(
          "has read "
              + state.position().lines()
              + " lines of "
              + known.name()
              + " and not its end"
              + (renamed ? ", and that is another file now" : ": go on with that file first"));
    }
    log.append(new SpoolRecord.Run(state.run() + 1, !same, same ? known : source));
    log.force();
    return begun(log);
  }

  private RefusedException refused(String what) {
    return new RefusedException(
        Refusal.INVALID,
        "the spool %s %s; use another directory, or drop what it holds with %s",
        options.getSpool(),
        what,
        ProducerOptions.setter("spoolRestart"));
  }

  private Begun begun(SpoolLog log) {
    SpoolState state = log.state();
    SpoolLog.Cut cut = log.cut();
    return new Begun(
        log,
        new SpoolWindow(Math.max(1, options.getBufferBytes() / 2), state.openRun(), log),
        log.hasMore(),
        new SpoolingProducer.Opened(
            state.source(),
            state.position(),
            state.messages() - state.ackedMessages(),
            cut == null
                ? null
                : cut.bytes()
                    + " bytes cut off "
                    + cut.segment()
                    + " at byte "
                    + cut.at()
                    + ": "
                    + cut.reason()));
  }

  /** On the context. */
  private SpoolingProducer producer(TopicInfo topic, Begun begun) {
    SpoolIntake<Promise<Producer.Position>> intake =
        new SpoolIntake<>(
            options,
            new ShardChoice(router),
            topic.open(),
            ThreadLocalRandom.current().nextDouble());
    SpooledProducer producer =
        new SpooledProducer(context, disk, options, begun, intake, directory.dueClock());
    return producer.start(
        new SpoolSender(link, directory, opener, disk, options, router, topic, begun, producer));
  }
}
