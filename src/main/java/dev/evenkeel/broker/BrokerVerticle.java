package dev.evenkeel.broker;

import dev.evenkeel.broker.serve.Answers;
import dev.evenkeel.broker.serve.RequestMeters;
import dev.evenkeel.broker.serve.ServeOptions;
import dev.evenkeel.broker.serve.Service;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageConsumer;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * Serves a broker on the event bus: {@link Addresses#data}, {@link Addresses#control} and {@link
 * Addresses#VIEW}. Publishes {@link Addresses#LEASE_CHANGES} and {@link Addresses#TOPIC_CHANGES}.
 * While it runs, {@link LocalObjects} has the node's {@link LogNode}.
 *
 * <p>Deployed by name it opens a {@link BrokerNode} of its own on the {@link Engines} that {@link
 * ServiceLoader} finds, and closes it when it is undeployed. Configuration:
 *
 * <pre>
 * node                   id of this node, required
 * data                   directory for logs and state, required
 * peers                  [{"node", "host" (localhost), "raftPort" (5703), "listenHost" (host)}],
 *                        every node, required
 * dataGroups             log groups of a new cluster; 0 (default): by the number of nodes
 * snapshotEveryEntries   100000
 * snapshotEveryBytes     536870912
 * segmentBytesMax        16777216, size of a log segment
 * tailBytesMax           16777216, newest batches held in memory, a log group
 * diskFreeBytesMin       268435456, below which appends are refused
 * entriesInFlightMax     3, append entries on their way at a time, a log group
 * appendBytesWaitingMax  33554432, appends not answered yet, a log group
 * fetchesWaitingMax      20000, long polls that wait
 * procedureMillisMax     10000, for creating or deleting a topic
 * reconcileMillis        2000, how often unfinished topics are taken up
 * engines                class name of the Engines to take, if there are several
 * </pre>
 *
 * Those from {@code entriesInFlightMax} to {@code reconcileMillis} count also for a verticle that
 * was given a node.
 */
public final class BrokerVerticle extends VerticleBase {
  private final CompletionStage<BrokerNode> given;
  private final List<MessageConsumer<?>> consumers = new ArrayList<>();
  private Engines engines;
  private BrokerNode node;
  private Service service;
  private MeterScope scope;
  private RequestMeters meters;
  private long reconcileTimer = -1;

  /** For deployment by name. */
  public BrokerVerticle() {
    this(null);
  }

  /**
   * Serves a node that somebody else opened, perhaps is still opening, and will close after this
   * verticle was undeployed.
   */
  public BrokerVerticle(CompletionStage<BrokerNode> node) {
    given = node;
  }

  /** Completes when the node is open and the cluster knows of every address. */
  @Override
  public Future<?> start() {
    return open().compose(this::serve);
  }

  private Future<BrokerNode> open() {
    if (given != null) {
      return Future.fromCompletionStage(given, context);
    }
    BrokerSettings settings = BrokerSettings.fromJson(config());
    return vertx.executeBlocking(() -> openOwn(settings));
  }

  private BrokerNode openOwn(BrokerSettings settings) throws Exception {
    String wanted = config().getString("engines");
    engines =
        ServiceLoader.load(Engines.class).stream()
            .filter(each -> wanted == null || each.type().getName().equals(wanted))
            .findFirst()
            .orElseThrow(
                () ->
                    new RefusedException(
                        Refusal.UNAVAILABLE, "no engines for a broker on the class path"))
            .get();
    try {
      return BrokerNode.start(settings, engines.logs(), engines.stores());
    } catch (Exception e) {
      engines.close();
      throw e;
    }
  }

  private Future<Void> serve(BrokerNode opened) {
    node = opened;
    ServeOptions options = ServeOptions.fromJson(config());
    scope = Meters.of(vertx).scope("broker");
    meters = new RequestMeters(scope);
    service = new Service(node, vertx, context, options, meters, scope);
    LocalObjects.put(vertx, LogNode.class, node.log());
    consume(Addresses.data(node.nodeId()), service::data);
    consume(Addresses.control(node.nodeId()), service::control);
    consumers.add(
        vertx
            .eventBus()
            .consumer(
                Addresses.VIEW, message -> message.reply(service.view().toJson().toBuffer())));
    reconcileTimer = vertx.setPeriodic(options.reconcileMillis(), id -> service.reconcile());
    return Future.all(consumers.stream().map(MessageConsumer::completion).toList()).mapEmpty();
  }

  private void consume(String address, Function<Buffer, Future<Buffer>> handler) {
    consumers.add(
        vertx
            .eventBus()
            .<Object>consumer(address, message -> Answers.answer(message, handler, meters)));
  }

  /** Stops taking requests, answers who waits, and closes the node if it was opened here. */
  @Override
  public Future<?> stop() {
    vertx.cancelTimer(reconcileTimer);
    return Future.join(consumers.stream().map(MessageConsumer::unregister).toList())
        .otherwiseEmpty()
        .compose(done -> closeOwn());
  }

  private Future<Void> closeOwn() {
    if (service != null) {
      service.close();
      scope.close();
      LocalObjects.remove(vertx, LogNode.class);
    }
    if (given != null || node == null) {
      return Future.succeededFuture();
    }
    return vertx.executeBlocking(
        () -> {
          node.close();
          engines.close();
          return null;
        });
  }
}
