package dev.evenkeel.cluster;

import com.hazelcast.config.Config;
import com.hazelcast.core.HazelcastInstance;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.tls.TlsException;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.nio.file.Path;

/**
 * A clustered Vert.x of an application on the event bus of a cluster whose nodes have {@code
 * peer-tls}. It is trusted like a node, so the nodes must have {@code allow-bus-members}.
 *
 * <pre>
 * SecuredBus.join(directory, hazelcastConfig, new VertxOptions())
 *     .compose(bus -&gt; Evenkeel.with(bus.vertx()))
 * </pre>
 */
public final class SecuredBus {
  private static final long LOOK_MILLIS = 2_000;

  private final Vertx vertx;
  private final HazelcastInstance hazelcast;

  private SecuredBus(Vertx vertx, HazelcastInstance hazelcast) {
    this.vertx = vertx;
    this.hazelcast = hazelcast;
  }

  /**
   * Joins the cluster. Blocks no thread of the caller. Fails with {@code RefusedException} INVALID
   * if a file cannot be used, and with UNAVAILABLE if the nodes do not take this member in time.
   *
   * @param directory with {@code tls.crt}, {@code tls.key} and {@code ca.crt} of the authority of
   *     nodes; changed files are taken up
   * @param config of Hazelcast, as {@code Evenkeel.with} needs it
   * @param options of the Vert.x; its event bus gets encrypted
   */
  public static Future<SecuredBus> join(Path directory, Config config, VertxOptions options) {
    Promise<SecuredBus> joined = Promise.promise();
    ClusterMembers.onThread(
        "evenkeel-secured-bus",
        () -> {
          try {
            joined.complete(joinNow(directory, config, new VertxOptions(options)));
          } catch (RuntimeException e) {
            joined.fail(e);
          }
        });
    return joined.future();
  }

  private static SecuredBus joinNow(Path directory, Config config, VertxOptions options) {
    TlsIdentity identity;
    try {
      identity = TlsIdentity.open(TlsFiles.in(directory));
    } catch (TlsException e) {
      throw Refusal.INVALID.error("TLS: " + e.getMessage());
    }
    HazelcastInstance hazelcast = ClusterMembers.startWithTls(config, identity);
    try {
      options.setEventBusOptions(BusTls.encrypted(options.getEventBusOptions(), identity));
      Vertx vertx =
          ClusterMembers.await(
              Vertx.builder()
                  .with(options)
                  .withClusterManager(new HazelcastClusterManager(hazelcast))
                  .buildClustered());
      BusTls.followChanges(vertx, identity);
      vertx.setPeriodic(LOOK_MILLIS, timer -> vertx.executeBlocking(identity::look, false));
      return new SecuredBus(vertx, hazelcast);
    } catch (RefusedException e) {
      hazelcast.getLifecycleService().terminate();
      throw e;
    }
  }

  /** The clustered Vert.x. Close it with {@link #close}, not by itself. */
  public Vertx vertx() {
    return vertx;
  }

  /** Leaves the cluster. */
  public Future<Void> close() {
    Promise<Void> closed = Promise.promise();
    vertx
        .close()
        .onComplete(
            done ->
                ClusterMembers.onThread(
                    "evenkeel-secured-bus-end",
                    () -> {
                      hazelcast.shutdown();
                      closed.complete();
                    }));
    return closed.future();
  }
}
