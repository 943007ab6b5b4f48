package dev.evenkeel.broker;

import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.broker.member.Membership;
import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.node.BrokerSettings;
import dev.evenkeel.broker.node.Engines;
import dev.evenkeel.broker.serve.Answers;
import dev.evenkeel.broker.serve.MetaIds;
import dev.evenkeel.broker.serve.RequestMetrics;
import dev.evenkeel.broker.serve.ServeOptions;
import dev.evenkeel.broker.serve.Service;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FrameCodec;
import dev.evenkeel.bus.KnownIds;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.LocalPauses;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.bus.rate.LocalQuotas;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.protocol.Nearest;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageConsumer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * Serves a broker on the event bus: {@link Addresses#data}, {@link Addresses#control} and {@link
 * Addresses#VIEW}. Publishes {@link Addresses#LEASE_CHANGES} and {@link Addresses#TOPIC_CHANGES}.
 * While it runs, {@link LocalObjects} has the node's {@link LogNode}, {@link KnownIds} and {@link
 * LocalQuotas}.
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
 * snapshotEveryEntries   0: by the heap, 20000 to 100000
 * snapshotEveryBytes     536870912
 * snapshotBytesPerSecondMax  67108864, how fast snapshots of other nodes are copied
 * segmentBytesMax        67108864, size of a file with messages
 * rewriteBytesPerSecond  16777216, how fast such files are written anew
 * scrubBytesPerSecond    16777216, how fast bodies are compared with their checksums; 0: never
 * scrubMillis            21600000, how long after a pass the next one begins
 * tailBytesMax           newest batches held in memory; by default a part of the heap
 * diskFreeBytesMin       268435456, the broker refuses appends below this
 * entriesInFlightMax     3, append entries on their way at a time, a log group
 * appendBytesWaitingMax  appends not answered yet, a log group; 0 (default): a part of the heap
 * fetchesWaitingMax      100000, long polls that wait
 * procedureMillisMax     10000, for creating or deleting a topic
 * reconcileMillis        2000, how often it continues unfinished topics
 * engines                class name of the Engines to take, if there are several
 * dispatcher             true, whether a dispatcher runs beside it, so that it may lead meta
 * </pre>
 *
 * A verticle that was given a node reads only those from {@code entriesInFlightMax} to {@code
 * reconcileMillis}.
 */
public final class BrokerVerticle extends VerticleBase {
  /** How often the node announces who leads which log group. */
  private static final long LEADERS_MILLIS = 2_000;

  /** How often the other nodes are asked whether they answer. */
  private static final long LINKS_MILLIS = 2_000;

  /** How often the states of all nodes are compared. */
  private static final long COMPARE_MILLIS = 10_000;

  /** Keys of its configuration. */
  public static final Set<String> KEYS = keys();

  private final CompletionStage<BrokerNode> given;
  private final List<MessageConsumer<?>> consumers = new ArrayList<>();
  private Engines engines;

  /** Set if this verticle opened the node. */
  private Membership membership;

  private BrokerNode node;
  private Service service;
  private MeterScope scope;
  private RequestMetrics meters;
  private final List<Long> timers = new ArrayList<>();

  private static Set<String> keys() {
    Set<String> keys = new LinkedHashSet<>(BrokerSettings.KEYS);
    keys.addAll(ServeOptions.keys());
    keys.addAll(List.of("engines", "dispatcher"));
    return keys;
  }

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
    Nearest.requireKnown("configuration key", config().fieldNames(), KEYS);
    FrameCodec.register(vertx);
    return open().compose(this::serve);
  }

  private Future<BrokerNode> open() {
    if (given != null) {
      return Future.fromCompletionStage(given, context);
    }
    BrokerSettings settings = BrokerSettings.fromJson(config());
    membership =
        new Membership(
            settings.log().nodeId(),
            config().getBoolean("dispatcher", true),
            CompletableFuture.completedFuture(vertx));
    return membership.start().compose(listening -> onThread(settings));
  }

  /** Uses its own thread: a new cluster of several nodes waits here until all are there. */
  private Future<BrokerNode> onThread(BrokerSettings settings) {
    CompletableFuture<BrokerNode> opened = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                opened.complete(openOwn(settings));
              } catch (Throwable e) {
                opened.completeExceptionally(e);
              }
            },
            "evenkeel-start-log");
    thread.setDaemon(true);
    thread.start();
    return Future.fromCompletionStage(opened, context)
        .onSuccess(membership::attach)
        .onFailure(failure -> membership.close());
  }

  private BrokerNode openOwn(BrokerSettings settings) throws Exception {
    String wanted = config().getString("engines");
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
    ServeOptions options = ServeOptions.fromJson(config());
    scope = Meters.of(vertx).scope("broker");
    meters = new RequestMetrics(scope);
    service = new Service(node, vertx, context, options, meters, scope);
    LocalObjects.put(vertx, LogNode.class, node.log());
    LocalObjects.put(vertx, KnownIds.class, new MetaIds(() -> node.meta().tables()));
    LocalObjects.put(vertx, LocalQuotas.class, service.quotas());
    LocalObjects.put(vertx, LocalPauses.class, service.pauses());
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
    timers.add(vertx.setPeriodic(LEADERS_MILLIS, id -> service.tellLeaders()));
    timers.add(vertx.setPeriodic(LINKS_MILLIS, id -> service.lookAtLinks()));
    timers.add(vertx.setPeriodic(COMPARE_MILLIS, id -> service.compareReplicas()));
    timers.add(vertx.setPeriodic(options.reconcileMillis(), id -> service.reconcile()));
    return Future.all(consumers.stream().map(MessageConsumer::completion).toList())
        .onSuccess(
            registered -> {
              if (membership != null) {
                membership.serve();
              }
            })
        .mapEmpty();
  }

  private void consume(String address, Function<Buffer, Future<Buffer>> handler) {
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
      LocalObjects.remove(vertx, KnownIds.class);
      LocalObjects.remove(vertx, LocalQuotas.class);
      LocalObjects.remove(vertx, LocalPauses.class);
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
