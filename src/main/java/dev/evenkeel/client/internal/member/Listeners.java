package dev.evenkeel.client.internal.member;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.spi.cluster.ClusterManager;
import io.vertx.core.spi.cluster.RegistrationInfo;
import java.util.List;

/** Says whether anybody listens at an address of the event bus, without a message. */
public final class Listeners {
  private Listeners() {}

  /**
   * Whether anybody listens. A Vert.x that is not clustered does not say: then it is true. Fails if
   * the cluster does not answer.
   */
  public static Future<Boolean> at(Vertx vertx, String address) {
    ClusterManager cluster = ((VertxInternal) vertx).clusterManager();
    return cluster == null
        ? Future.succeededFuture(true)
        : Future.<List<RegistrationInfo>>future(asking -> cluster.getRegistrations(address, asking))
            .map(found -> !found.isEmpty());
  }
}
