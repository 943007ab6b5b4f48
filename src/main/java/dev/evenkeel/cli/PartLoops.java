package dev.evenkeel.cli;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.EventExecutor;
import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.json.JsonObject;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Deploys the parts of a node, and knows on which event loops they work. Each part works on one.
 * Safe for use from any thread.
 */
final class PartLoops {
  private final Set<EventLoop> taken = ConcurrentHashMap.newKeySet();

  /** Deploys a part on the next event loop. */
  Future<String> deploy(Vertx vertx, Deployable part, JsonObject config) {
    return vertx.deployVerticle(
        new Deployable() {
          @Override
          public Future<?> deploy(Context context) throws Exception {
            taken.add(loop(context));
            return part.deploy(context);
          }

          @Override
          public Future<?> undeploy(Context context) throws Exception {
            return part.undeploy(context);
          }
        },
        new DeploymentOptions().setConfig(config));
  }

  /**
   * Deploys a part that works for long at a time, so that it holds up others: on an event loop that
   * no part has yet, if there is one.
   */
  Future<String> deployApart(Vertx vertx, Deployable part, JsonObject config) {
    int loops = 0;
    for (EventExecutor unused : ((VertxInternal) vertx).nettyEventLoopGroup()) {
      loops++;
    }
    Candidates candidates = new Candidates(part, loops);
    // One for each event loop. All but one do nothing.
    return vertx.deployVerticle(
        candidates::next, new DeploymentOptions().setConfig(config).setInstances(loops));
  }

  private static EventLoop loop(Context context) {
    return ((ContextInternal) context).nettyEventLoop();
  }

  /** Of whom the first on a free event loop becomes the part, or else the last one. */
  private final class Candidates {
    private final Deployable part;
    private int left;
    private boolean found;

    Candidates(Deployable part, int count) {
      this.part = part;
      left = count;
    }

    Deployable next() {
      return new Candidate();
    }

    private synchronized boolean elects(EventLoop loop) {
      left--;
      boolean elected = !found && (left == 0 || !taken.contains(loop));
      if (elected) {
        found = true;
        taken.add(loop);
      }
      return elected;
    }

    private final class Candidate implements Deployable {
      private boolean elected;

      @Override
      public Future<?> deploy(Context context) throws Exception {
        elected = elects(loop(context));
        return elected ? part.deploy(context) : Future.succeededFuture();
      }

      @Override
      public Future<?> undeploy(Context context) throws Exception {
        return elected ? part.undeploy(context) : Future.succeededFuture();
      }
    }
  }
}
