package dev.evenkeel.cli;

import dev.evenkeel.broker.BrokerNode;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.web.WebVerticle;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.json.JsonObject;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/**
 * One run of a node: starts its parts, log and cluster side by side, says when it can serve, and
 * ends them in the reverse order when it is told to or when the log fails underneath.
 */
final class ServeRun {
  private static final long END_MILLIS_MAX = 10_000;
  private static final long READY_CHECK_MILLIS = 50;
  private static final long READY_ANSWER_MILLIS_MAX = 5_000;

  private final NodeConfig config;
  private final NodeParts parts;
  private final Guest guest;
  private final Teardown teardown;
  private final WebVerticle web = new WebVerticle();

  /** Completes with null when the node shall end, exceptionally when it cannot go on. */
  private final CompletableFuture<Void> end = new CompletableFuture<>();

  /** What a node is run for; it says so, or begins its work, once the node can serve. */
  @FunctionalInterface
  interface Guest {
    /**
     * Called once. What it adds to the teardown ends before the node does.
     *
     * @param httpPort null: the node has no HTTP
     * @param end completes when the node shall end; the guest may complete it, too
     */
    void ready(Vertx vertx, Integer httpPort, Teardown teardown, CompletableFuture<Void> end);
  }

  /**
   * @param teardown what is in it already ends last
   */
  ServeRun(NodeConfig config, Guest guest, Teardown teardown) {
    this.config = config;
    this.parts = new NodeParts(config);
    this.guest = guest;
    this.teardown = teardown;
  }

  /** Runs until a signal ends it; gives the exit status. */
  int run() throws InterruptedException {
    FreePorts.check(config);
    DataDirectory.check(config.data());
    StopSignal signal = StopSignal.install(() -> end.complete(null), END_MILLIS_MAX + 3_000);
    int status = ExitStatus.FAILED;
    try {
      start();
      get(end);
      status = ExitStatus.DONE;
    } catch (Ended e) {
      status = ExitStatus.DONE;
    } finally {
      teardown.run(END_MILLIS_MAX);
      signal.ended(status);
    }
    return status;
  }

  /** Somebody ended the node while it was starting. */
  private static final class Ended extends Exception {
    private static final long serialVersionUID = 1L;

    Ended() {
      super(null, null, false, false);
    }
  }

  private void start() throws InterruptedException, Ended {
    CompletableFuture<Void> names = new PeerNames(config).await();
    end.whenComplete((ended, failure) -> names.complete(null));
    await(names);
    if (end.isDone()) {
      throw new Ended();
    }
    NodeEngines engines = new NodeEngines();
    teardown.addBlocking("store", engines::close);
    CompletableFuture<BrokerNode> nodeStart = parts.brokerNode(engines);
    CompletableFuture<ClusterMember> memberStart =
        parts.clusterMember().toCompletionStage().toCompletableFuture();
    // Both to their end, so that whatever runs is also ended.
    teardown.addBlocking("log", () -> closeIfStarted(nodeStart));
    teardown.add(
        "cluster", () -> Future.fromCompletionStage(memberStart).compose(ClusterMember::close));
    engines
        .logFailure()
        .thenAccept(
            cause ->
                end.completeExceptionally(
                    CommandFailure.failed(
                        "the log has failed: " + CommandErrors.describe(cause), cause)));
    Vertx vertx = await(memberStart).vertx();
    await(nodeStart);
    deploy(vertx, nodeStart, memberStart.join());
    awaitReady(vertx);
    guest.ready(vertx, config.has("web") ? web.actualPort() : null, teardown, end);
  }

  private static void closeIfStarted(CompletableFuture<BrokerNode> start) {
    BrokerNode node = start.exceptionally(notStarted -> null).join();
    if (node != null) {
      node.close();
    }
  }

  private void deploy(Vertx vertx, CompletableFuture<BrokerNode> node, ClusterMember member)
      throws InterruptedException, Ended {
    LocalObjects.put(vertx, ClusterMember.class, member);
    // Of the parts on the bus HTTP ends last, so that /health/ready can tell that the node stops.
    CompletableFuture<String> webId = new CompletableFuture<>();
    teardown.add(
        "web", () -> webId.isDone() ? vertx.undeploy(webId.join()) : Future.succeededFuture());
    deployed(vertx, "broker", parts.broker(vertx, node));
    if (config.has("dispatcher")) {
      deployed(vertx, "dispatcher", parts.dispatcher(vertx, member));
    }
    EvenkeelClient client = await(NodeParts.client(vertx).toCompletionStage());
    teardown.add("client", client::close);
    deployed(vertx, "gateway", parts.gateway(vertx));
    if (config.has("web")) {
      webId.complete(await(parts.web(vertx, web).toCompletionStage()));
    }
  }

  private void deployed(Vertx vertx, String name, Future<String> deployment)
      throws InterruptedException, Ended {
    String id = await(deployment.toCompletionStage());
    teardown.add(name, () -> vertx.undeploy(id));
  }

  private void awaitReady(Vertx vertx) throws InterruptedException, Ended {
    CompletableFuture<Void> ready = new CompletableFuture<>();
    askReady(vertx, ready);
    await(ready);
  }

  private void askReady(Vertx vertx, CompletableFuture<Void> ready) {
    DeliveryOptions options =
        new DeliveryOptions().setLocalOnly(true).setSendTimeout(READY_ANSWER_MILLIS_MAX);
    vertx
        .eventBus()
        .request(Addresses.API_TOPICS, new JsonObject().put("action", "ready"), options)
        .onSuccess(answer -> ready.complete(null))
        .onFailure(
            failure -> {
              if (!end.isDone()) {
                vertx.setTimer(READY_CHECK_MILLIS, timer -> askReady(vertx, ready));
              }
            });
  }

  /** The result, unless the node is to end before. */
  private <T> T await(CompletionStage<T> stage) throws InterruptedException, Ended {
    CompletableFuture<T> future = stage.toCompletableFuture();
    get(CompletableFuture.anyOf(future, end));
    if (!future.isDone()) {
      throw new Ended();
    }
    return get(future);
  }

  private static <T> T get(CompletableFuture<T> future) throws InterruptedException {
    try {
      return future.get();
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      if (cause instanceof CommandFailure known) {
        throw known;
      }
      throw CommandFailure.failed(CommandErrors.describe(cause), cause);
    }
  }
}
