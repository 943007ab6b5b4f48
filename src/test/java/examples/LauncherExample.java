package examples;

import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.cluster.NodeSettings;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A launcher of one's own: a whole node and an application in one JVM, as verticles deployed by
 * name: {@code LauncherExample PORT HTTP-PORT DIRECTORY}. Its class path is evenkeel.jar and the
 * application's classes.
 */
public final class LauncherExample {
  /** A minute and more. */
  private static final int TRIES_MAX = 1_200;

  private final Deque<String> deployed = new ArrayDeque<>();
  private final Vertx vertx;

  private LauncherExample(Vertx vertx) {
    this.vertx = vertx;
  }

  public static void main(String[] args) {
    int port = Integer.parseInt(args[0]);
    ClusterMembers.node(NodeSettings.lone(port))
        .compose(member -> new LauncherExample(member.vertx()).start(member, port, args))
        .onSuccess(ready -> System.out.println("launcher ready"))
        .onFailure(
            failure -> {
              System.err.println(failure.getMessage());
              System.exit(1);
            });
  }

  private Future<Void> start(ClusterMember member, int port, String[] args) {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(member)));
    JsonObject self = new JsonObject().put("node", "n1").put("raftPort", port + 2);
    JsonObject broker =
        new JsonObject()
            .put("node", "n1")
            .put("data", args[2])
            .put("peers", new JsonArray().add(self));
    JsonObject web = new JsonObject().put("node", "n1").put("port", Integer.parseInt(args[1]));
    JsonObject sessions = new JsonObject().put("node", "n1").put("port", port);
    JsonObject consumer =
        new JsonObject()
            .put("handler", Printer.class.getName())
            .put("group", "printers")
            .put("topics", new JsonArray().add("orders"));
    JsonObject producer = new JsonObject().put("topic", "orders").put("address", "orders.in");
    return deploy("dev.evenkeel.broker.BrokerVerticle", broker)
        .compose(done -> deploy("dev.evenkeel.dispatcher.DispatcherVerticle", new JsonObject()))
        .compose(done -> deploy("dev.evenkeel.gateway.GatewayVerticle", new JsonObject()))
        .compose(done -> deploy("dev.evenkeel.gateway.http.WebVerticle", web))
        .compose(done -> deploy("dev.evenkeel.gateway.session.SessionVerticle", sessions))
        .compose(done -> patiently(this::ready, TRIES_MAX))
        .compose(done -> patiently(() -> createTopic("orders", 4), TRIES_MAX))
        .compose(done -> deploy("dev.evenkeel.ConsumerVerticle", consumer))
        .compose(done -> deploy("dev.evenkeel.ProducerVerticle", producer));
  }

  private Future<Void> deploy(String name, JsonObject config) {
    return vertx
        .deployVerticle(name, new DeploymentOptions().setConfig(config))
        .onSuccess(deployed::push)
        .mapEmpty();
  }

  /** A log group needs a leader before it can serve, which takes a moment, and may lose it. */
  private Future<Void> patiently(Supplier<Future<Void>> action, int tries) {
    Future<Void> answer = action.get();
    return tries == 1
        ? answer
        : answer.recover(notYet -> vertx.timer(50).compose(later -> patiently(action, tries - 1)));
  }

  private Future<Void> ready() {
    return vertx
        .eventBus()
        .request("evenkeel.api.topics", new JsonObject().put("action", "ready"))
        .mapEmpty();
  }

  private Future<Void> createTopic(String name, int shards) {
    JsonObject create =
        new JsonObject().put("action", "create").put("name", name).put("shards", shards);
    return vertx
        .eventBus()
        .request("evenkeel.api.topics", create)
        .<Void>mapEmpty()
        .recover(
            failure ->
                String.valueOf(failure.getMessage()).startsWith("TOPIC_EXISTS")
                    ? Future.succeededFuture()
                    : Future.failedFuture(failure));
  }

  /** In the reverse order: the consumer releases its shards while the broker still serves. */
  private void stop(ClusterMember member) {
    CountDownLatch stopped = new CountDownLatch(1);
    // Not composed into one future: that would complete on a context of the Vert.x that is closed.
    undeployNext().onComplete(done -> member.close().onComplete(closed -> stopped.countDown()));
    try {
      if (!stopped.await(1, TimeUnit.MINUTES)) {
        System.err.println("could not end in good order within a minute");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Future<Void> undeployNext() {
    String next = deployed.poll();
    return next == null
        ? Future.succeededFuture()
        : vertx.undeploy(next).transform(done -> undeployNext());
  }

  /** The application's handler: public, with a public constructor without arguments. */
  public static final class Printer implements ConsumerHandler {
    @Override
    public Future<Void> handle(Delivery delivery) {
      System.out.println(
          "handled "
              + delivery.message().keyText()
              + " "
              + new String(delivery.message().payload(), java.nio.charset.StandardCharsets.UTF_8)
              + " of shard "
              + delivery.shard()
              + " at "
              + delivery.offset());
      return Future.succeededFuture();
    }
  }
}
