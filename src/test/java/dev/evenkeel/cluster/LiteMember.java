package dev.evenkeel.cluster;

import com.hazelcast.config.Config;
import dev.evenkeel.protocol.ClusterDefaults;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.eventbus.EventBusOptions;
import java.util.concurrent.TimeUnit;

/**
 * Joins a cluster as an application with a clustered Vert.x of its own does: as a member without
 * data.
 */
public final class LiteMember {
  private static final String HOST = "127.0.0.1";
  private static final long MILLIS_MAX = 60_000;

  private LiteMember() {}

  /** Joins the cluster of the node with this base port, on the loopback interface. */
  public static Future<ClusterMember> join(int port) {
    return join(port, ClusterDefaults.CLUSTER_NAME);
  }

  public static Future<ClusterMember> join(int port, String clusterName) {
    Promise<ClusterMember> promise = Promise.promise();
    Thread joining = new Thread(() -> join(port, clusterName, promise), "lite-member-join");
    joining.setDaemon(true);
    joining.start();
    return promise.future();
  }

  private static void join(int port, String clusterName, Promise<ClusterMember> promise) {
    Config config =
        TestHazelcast.lite(clusterName, HOST, new HostPort(HOST, port).hazelcast().toString());
    long begun = System.nanoTime();
    while (!promise.future().isComplete()) {
      try {
        promise.complete(
            ClusterMembers.join(config, new EventBusOptions().setHost(HOST).setPort(0)));
      } catch (RefusedException e) {
        if (System.nanoTime() - begun > TimeUnit.MILLISECONDS.toNanos(MILLIS_MAX)) {
          promise.fail(e);
        }
      }
    }
  }
}
