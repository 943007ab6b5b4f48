package dev.evenkeel.cli;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.internal.EvenkeelClientImpl;
import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deploys what {@code run} names on a Vert.x, and undeploys it by a {@link Teardown}. It is used
 * again when the Vert.x must be another one.
 */
final class VerticleRun {
  /** Longer than a consumer waits for its running handlers by default. */
  static final long STOP_MILLIS_MAX = 60_000;

  private final Logger log = LoggerFactory.getLogger(RunCommand.class);
  private final RunTarget target;
  private final int instances;
  private final ClassLoader loader;
  private final long stopMillisMax;
  private boolean printed;

  /**
   * @param loader of the verticles and of what they load by name
   */
  VerticleRun(RunTarget target, int instances, ClassLoader loader) {
    this(target, instances, loader, STOP_MILLIS_MAX);
  }

  /**
   * @param stopMillisMax how long the step of the teardown waits for the end of the verticle: what
   *     comes after it, such as a node, needs time, too
   */
  VerticleRun(RunTarget target, int instances, ClassLoader loader, long stopMillisMax) {
    this.target = target;
    this.instances = instances;
    this.loader = loader;
    this.stopMillisMax = stopMillisMax;
  }

  /** Lets the consumer and producer verticles share the connection of a client. */
  static void share(Vertx vertx, EvenkeelClient client, Teardown teardown) {
    Link link = EvenkeelClientImpl.linkOf(client);
    ClusterDirectory directory = new ClusterDirectory(link);
    teardown.addBlocking("directory", directory::close);
    LocalObjects.put(vertx, ClusterDirectory.class, directory);
    LocalObjects.put(vertx, Link.class, link);
  }

  /**
   * Returns when all instances are deployed, or the end has come before.
   *
   * @param end completes when the program shall stop
   * @param undeployed called once if the verticle undeploys itself
   * @throws CommandFailure if the deployment fails
   */
  void deploy(Vertx vertx, Teardown teardown, CompletableFuture<Void> end, Runnable undeployed)
      throws InterruptedException {
    Thread.currentThread().setContextClassLoader(loader);
    Promise<Void> ended = Promise.promise();
    DeploymentOptions options =
        new DeploymentOptions()
            .setConfig(target.config())
            .setInstances(instances)
            .setClassLoader(loader);
    AtomicInteger left = new AtomicInteger(instances);
    Runnable gone =
        () -> {
          if (left.decrementAndGet() == 0) {
            ended.tryComplete();
          }
        };
    Future<String> deployed = vertx.deployVerticle(() -> new Watched(make(), gone), options);
    teardown.add(
        target.name(),
        () -> {
          boolean itself = !ended.tryFail("the program undeploys it");
          return itself || !deployed.succeeded()
              ? Future.succeededFuture()
              : vertx.undeploy(deployed.result()).timeout(stopMillisMax, TimeUnit.MILLISECONDS);
        });
    CompletableFuture<String> id = deployed.toCompletionStage().toCompletableFuture();
    try {
      CompletableFuture.anyOf(id, end).get();
    } catch (ExecutionException e) {
      if (id.isCompletedExceptionally()) {
        throw failed(e.getCause());
      }
    }
    if (!id.isDone()) {
      return;
    }
    ended
        .future()
        .compose(self -> removed(vertx, deployed.result()))
        .onSuccess(self -> undeployed.run());
    if (printed) {
      log.warn("{} runs again", target.name());
    } else {
      printed = true;
      System.out.println("evenkeel running " + target.name() + " instances=" + instances);
      System.out.flush();
    }
  }

  /**
   * Completes when Vert.x no longer knows the deployment, which has stopped: it logs an error if it
   * is closed before.
   */
  private static Future<Void> removed(Vertx vertx, String deployment) {
    return vertx.deploymentIDs().contains(deployment)
        ? vertx.timer(1).compose(passed -> removed(vertx, deployment))
        : Future.succeededFuture();
  }

  /** Whether all instances were deployed once. */
  boolean wasDeployed() {
    return printed;
  }

  /** Says that the verticle undeployed itself. */
  Void reportEnd(String then) {
    log.warn("{} undeployed itself: {}", target.name(), then);
    return null;
  }

  private Deployable make() {
    try {
      return target.make();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException("its constructor failed: " + e, e);
    }
  }

  private CommandFailure failed(Throwable cause) {
    String hint =
        cause instanceof LinkageError ? ": if a class is missing, add its jar to --classpath" : "";
    // Of a verticle that fails its start with a text, the class says nothing.
    boolean textOnly = cause.getClass() == Future.failedFuture("").cause().getClass();
    String text = textOnly ? cause.getMessage() : CommandErrors.describe(cause);
    return CommandFailure.failed("cannot deploy " + target.name() + ": " + text + hint, cause);
  }

  /** Notes when an instance is undeployed, by whomever. */
  private static final class Watched implements Deployable {
    private final Deployable verticle;
    private final Runnable gone;

    Watched(Deployable verticle, Runnable gone) {
      this.verticle = verticle;
      this.gone = gone;
    }

    @Override
    public Future<?> deploy(Context context) throws Exception {
      return verticle.deploy(context);
    }

    @Override
    public Future<?> undeploy(Context context) throws Exception {
      try {
        return verticle.undeploy(context).onComplete(done -> gone.run());
      } catch (Exception e) {
        gone.run();
        throw e;
      }
    }
  }
}
