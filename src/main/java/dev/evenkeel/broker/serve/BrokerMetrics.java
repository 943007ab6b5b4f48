package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.node.DiskUse;
import dev.evenkeel.broker.state.TailCache;
import dev.evenkeel.bus.meters.FigureTable;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Rows;
import dev.evenkeel.log.LogStatus;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Metrics of a broker, read when they are asked for: queues on the broker's context, everything
 * that may wait (engines, disk) on a thread for metrics. They cost nothing in between.
 */
final class BrokerMetrics {
  private static final Logger LOG = LoggerFactory.getLogger(BrokerMetrics.class);

  /**
   * Queues of the broker's context.
   *
   * @param appends of the data log groups, in their order
   */
  record Queues(List<Appender.Queue> appends, int fetchesWaiting, int readsWaiting) {}

  private final BrokerNode node;
  private final Context context;
  private final Supplier<Queues> queues;
  private final MeterScope scope;
  private final List<LogMetrics> logs = new CopyOnWriteArrayList<>();
  private final FigureTable followerLag;
  private final FigureTable clockSkew;
  private final TopicMetrics topics;
  private final DiskUse logDisk;
  private final DiskUse storeDisk;
  private final DiskUse bodiesDisk;
  private volatile Queues lastQueues;

  /**
   * @param queues to be asked on {@code context}
   */
  BrokerMetrics(
      BrokerNode node,
      List<LogGroupServer> groups,
      Context context,
      Supplier<Queues> queues,
      MeterScope scope) {
    this.node = node;
    this.context = context;
    this.queues = queues;
    this.scope = scope;
    lastQueues = queues.get();
    Path data = node.dataDirectory();
    Path live = data.resolve("live");
    Path bodies = data.resolve("bodies");
    storeDisk = new DiskUse(live, List.of());
    bodiesDisk = new DiskUse(bodies, List.of());
    logDisk = new DiskUse(data.resolve("raft"), List.of(live, bodies));
    topics = new TopicMetrics(node, groups, scope);
    followerLag =
        scope.table(
            "evenkeel.log.follower.lag.entries",
            "Log entries that the leader has committed and a follower does not have",
            "log",
            "follower");
    logs.add(new LogMetrics(node.log().meta(), node, scope));
    clockSkew =
        scope.table(
            "evenkeel.clock.skew.seconds",
            "How far the clock of another node is ahead of the clock of this node",
            "node");
    nodeFigures();
    scope.reading(this::read);
  }

  /** Counts another data log group, too. */
  void add(LogGroupServer group, int index) {
    LogMetrics figures = new LogMetrics(group.log(), node, scope);
    figures.countBodies(
        node.maintenance().scrub(index), group.mender(), node.maintenance().cleaner(index));
    logs.add(figures);
    lastQueues = queues.get();
    queueFigures(group, index);
  }

  private void queueFigures(LogGroupServer group, int index) {
    String name = group.log().name();
    TailCache tail = group.state().tail();
    queueFigure(
        "evenkeel.append.waiting.requests",
        "Append requests waiting to be joined into a log entry",
        name,
        index,
        Appender.Queue::requests);
    queueFigure(
        "evenkeel.append.waiting.bytes",
        "Bytes of append requests not answered yet",
        name,
        index,
        Appender.Queue::bytes);
    queueFigure(
        "evenkeel.append.inflight.entries",
        "Append entries that the log has not answered yet",
        name,
        index,
        Appender.Queue::entriesInFlight);
    scope.gauge("evenkeel.tail.cache.bytes", "Newest batches in memory", tail::bytes, "log", name);
  }

  private void queueFigure(
      String name, String help, String log, int index, ToDoubleFunction<Appender.Queue> figure) {
    scope.gauge(
        name, help, () -> figure.applyAsDouble(lastQueues.appends().get(index)), "log", log);
  }

  private void nodeFigures() {
    scope.gauge(
        "evenkeel.feature.level",
        "Feature level of the cluster: the highest of log entries that every node reads",
        () -> node.meta().tables().featureLevel());
    scope.gauge(
        "evenkeel.feature.level.read",
        "Highest feature level of log entries that this node reads",
        FeatureLevel::reads);
    scope.gauge(
        "evenkeel.clock.correction.seconds",
        "Correction that this node adds to its clock, which differs from the clocks of most nodes",
        () -> node.clock().correctionMillis() / 1e3);
    scope.gauge(
        "evenkeel.fetch.waiting",
        "Long polls waiting for messages",
        () -> lastQueues.fetchesWaiting());
    scope.gauge(
        "evenkeel.reads.waiting",
        "Reads waiting for a disk thread",
        () -> lastQueues.readsWaiting());
    scope.gauge("evenkeel.disk.free.bytes", "Free space where the data is", node.disk()::freeBytes);
    scope.gauge(
        "evenkeel.disk.free.min.bytes",
        "The limit of free space, below which appends are refused",
        node.disk()::freeBytesMin);
    scope.gauge(
        "evenkeel.log.disk.bytes",
        "Files of logs, and what only snapshots keep; measured at most every 30 s",
        logDisk::bytes);
    scope.gauge(
        "evenkeel.store.disk.bytes",
        "Files of the state; measured at most every 30 s",
        storeDisk::bytes);
    scope.gauge(
        "evenkeel.bodies.disk.bytes",
        "Files of messages; measured at most every 30 s",
        bodiesDisk::bytes);
  }

  private Future<?> read() {
    Promise<Void> asked = Promise.promise();
    context.runOnContext(
        now -> {
          lastQueues = queues.get();
          asked.complete();
        });
    return asked.future().compose(done -> scope.blocking(this::readWaiting));
  }

  /** A metric that fails is unknown, and does not hold up the others. */
  private Void readWaiting() {
    Rows lag = new Rows(1_000);
    for (LogMetrics each : logs) {
      attempt(
          () -> {
            LogStatus status = each.read();
            status
                .matchIndex()
                .forEach(
                    (follower, match) ->
                        lag.add(
                            Math.max(0, status.commitIndex() - match), status.group(), follower));
          });
    }
    followerLag.show(lag);
    Rows skew = new Rows(1_000);
    node.clock().skewMillis().forEach((other, millis) -> skew.add(millis / 1e3, other));
    clockSkew.show(skew);
    attempt(topics::read);
    attempt(logDisk::measure);
    attempt(storeDisk::measure);
    attempt(bodiesDisk::measure);
    return null;
  }

  private static void attempt(Runnable reading) {
    try {
      reading.run();
    } catch (RefusedException stopping) {
      LOG.debug("a figure is unknown: {}", stopping.getMessage());
    } catch (RuntimeException e) {
      LOG.warn("a figure cannot be read: {}", e.toString());
    }
  }

  void close() {
    logs.forEach(LogMetrics::close);
  }
}
