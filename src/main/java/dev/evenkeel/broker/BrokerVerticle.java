package dev.evenkeel.broker;

import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.broker.member.Membership;
import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.node.BrokerOptions;
import dev.evenkeel.broker.node.BrokerSettings;
import dev.evenkeel.broker.node.Engines;
import dev.evenkeel.broker.serve.Answers;
import dev.evenkeel.broker.serve.MetaIds;
import dev.evenkeel.broker.serve.RequestMetrics;
import dev.evenkeel.broker.serve.Service;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Asker;
import dev.evenkeel.bus.FrameCodec;
import dev.evenkeel.bus.LocalBroker;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.util.Daemon;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageConsumer;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;

/**
 * Serves a broker on the event bus: {@link Addresses#data}, {@link Addresses#control} and {@link
 * Addresses#VIEW}. Publishes {@link Addresses#LEASE_CHANGES} and {@link Addresses#TOPIC_CHANGES}.
 * While it runs, {@link LocalObjects} has the node's {@link LogNode} and {@link LocalBroker}.
 *
 * <p>Deployed by name it opens a {@link BrokerNode} of its own on the {@link Engines} that {@link
 * ServiceLoader} finds, and closes it when it is undeployed. Its configuration is that of {@link
 * BrokerOptions}.
 *
 * <p>A verticle that was given a node reads only how it serves.
 */
public final class BrokerVerticle extends VerticleBase {
  /** How often the node announces who leads which log group. */
  private static final long LEADERS_MILLIS = 2_000;

  /** How often the other nodes are asked whether they answer. */
  private static final long LINKS_MILLIS = 2_000;

  /** How often the states of all nodes are compared. */
  private static final long COMPARE_MILLIS = 10_000;

  private final CompletionStage<BrokerNode> given;
  private final List<MessageConsumer<?>> consumers = new ArrayList<>();
  private BrokerOptions options;
  private Engines engines;

  /** Set if this verticle opened the node. */
  private Membership membership;

  private BrokerNode node;
  private Service service;
  private MeterScope scope;
  private RequestMetrics meters;
  private final List<Long> timers = new ArrayList<>();

  /** For deployment by name. */
  public BrokerVerticle() {
    this(null);
  }

  /** Serves a node that the caller opens, and closes after this verticle was undeployed. */
  public BrokerVerticle(CompletionStage<BrokerNode> node) {
    given = node;
  }

  /** Completes when the node is open and the cluster knows of every address. */
  @Override
  public Future<?> start() {
    options = new BrokerOptions(config());
    FrameCodec.register(vertx);
    return open().compose(this::serve);
  }

  private Future<BrokerNode> open() {
    if (given != null) {
      return Future.fromCompletionStage(given, context);
    }
    BrokerSettings settings = BrokerSettings.of(options);
    membership =
        new Membership(
            settings.log().nodeId(),
            options.get(BrokerOptions.DISPATCHER),
            CompletableFuture.completedFuture(vertx));
    return membership.start().compose(listening -> onThread(settings));
  }

  /** Uses its own thread: a new cluster of several nodes waits here until all are there. */
  private Future<BrokerNode> onThread(BrokerSettings settings) {
    return Future.fromCompletionStage(
            Daemon.call("evenkeel-start-log", () -> openOwn(settings)), context)
        .onSuccess(membership::attach)
        .onFailure(failure -> membership.close());
  }

  private BrokerNode openOwn(BrokerSettings settings) throws Exception {
    String wanted = options.get(BrokerOptions.ENGINES);
    engines =
        ServiceLoader.load(Engines.class).stream()
            .filter(each -> wanted == null || each.type().getName().equals(wanted))
            .findFirst()
            .orElseThrow(() -> UNAVAILABLE.error("no engines for a broker on the class path"))
            .get();
    try {
      return BrokerNode.start(settings, engines.logs(), engines.stores(), membership);
    } catch (Exception e) {
      engines.close();
      throw e;
    }
  }

  private Future<Void> serve(BrokerNode opened) {
    node = opened;
    scope = Meters.of(vertx).scope("broker");
    meters = new RequestMetrics(scope);
    service = new Service(node, vertx, context, options, meters, scope);
    LocalObjects.put(vertx, LogNode.class, node.log());
    MetaIds ids = new MetaIds(() -> node.meta().tables());
    LocalObjects.put(
        vertx,
        LocalBroker.class,
        new LocalBroker(ids, service.quotas(), service.pauses(), service.users()));
    consume(Addresses.data(node.nodeId()), service::data);
    consume(Addresses.control(node.nodeId()), service::control);
    consumers.add(
        vertx
            .eventBus()
            .<Buffer>consumer(
                Addresses.VIEW, message -> message.reply(service.answerView(message.body()))));
    consumers.add(
        vertx
            .eventBus()
            .consumer(
                Addresses.LEADER_CHANGES,
                message -> service.heardLeaders(VertxLink.buffer(message.body()))));
    consumers.add(
        vertx
            .eventBus()
            .consumer(
                Addresses.CONNECTIONS_ENDED,
                message -> service.connectionEnded(VertxLink.buffer(message.body()).toString())));
    timers.add(vertx.setPeriodic(LEADERS_MILLIS, id -> service.tellLeaders()));
    timers.add(vertx.setPeriodic(LINKS_MILLIS, id -> service.lookAtLinks()));
    timers.add(vertx.setPeriodic(COMPARE_MILLIS, id -> service.compareReplicas()));
    timers.add(
        vertx.setPeriodic(options.get(BrokerOptions.RECONCILE_MILLIS), id -> service.reconcile()));
    return Future.all(consumers.stream().map(MessageConsumer::completion).toList())
        .onSuccess(
            registered -> {
              if (membership != null) {
                membership.serve();
              }
            })
        .mapEmpty();
  }

  private void consume(String address, BiFunction<Buffer, Asker, Future<Buffer>> handler) {
    consumers.add(
        vertx
            .eventBus()
            .<Object>consumer(
                address, message -> Answers.answer(message, handler, meters::refused)));
  }

  /**
   * Stops taking requests, answers waiting ones, and closes the node if this verticle opened it.
   */
  @Override
  public Future<?> stop() {
    timers.forEach(vertx::cancelTimer);
    Future<Void> handedOver = membership == null ? Future.succeededFuture() : membership.handOver();
    return handedOver.eventually(this::unregister);
  }

  private Future<Void> unregister() {
    return Future.join(consumers.stream().map(MessageConsumer::unregister).toList())
        .otherwiseEmpty()
        .compose(done -> closeOwn());
  }

  private Future<Void> closeOwn() {
    if (service != null) {
      service.close();
      scope.close();
      LocalObjects.remove(vertx, LogNode.class);
      LocalObjects.remove(vertx, LocalBroker.class);
    }
    if (membership != null) {
      membership.close();
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
