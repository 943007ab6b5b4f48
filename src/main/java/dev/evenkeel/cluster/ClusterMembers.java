package dev.evenkeel.cluster;

import com.hazelcast.config.Config;
import com.hazelcast.core.HazelcastException;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.spi.exception.RetryableException;
import dev.evenkeel.dedup.SharedAutomata;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.Causes;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxBuilder;
import io.vertx.core.VertxOptions;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.spi.VertxTracerFactory;
import io.vertx.core.spi.cluster.ClusterManager;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes members of the cluster. Blocking calls run on their own threads. */
public final class ClusterMembers {
  private static final int CONNECT_TIMEOUT_MILLIS = 2_000;
  private static final int PING_MILLIS = 5_000;

  /**
   * From when on Vert.x warns of a task that holds up an event loop. A test of the load on a loop
   * sets it lower, and then the first warning has a stack trace, too.
   */
  private static final Integer BLOCKED_MILLIS = Integer.getInteger("evenkeel.blockedMillis");

  /**
   * Longest wait for Hazelcast. Its own limits are shorter, but it may hang before it checks them.
   */
  private static final long JOIN_MILLIS_MAX = 300_000;

  /**
   * How often a node tries to join. The member that it asks first may leave meanwhile, and noticing
   * that takes some 20 s.
   */
  static final int JOIN_TRIES = 3;

  private static final Logger LOG = LoggerFactory.getLogger(ClusterMembers.class);

  private ClusterMembers() {}

  /**
   * Starts a member that holds data. Fails with {@code RefusedException} INVALID if a port is in
   * use or the host is not this machine's, UNAVAILABLE if Hazelcast cannot start, {@value
   * #JOIN_TRIES} times in a row.
   */
  public static Future<ClusterMember> node(NodeSettings settings) {
    return node(settings, new PartitionWatch());
  }

  /** As above, with this watch over the partitions of the shared maps. */
  static Future<ClusterMember> node(NodeSettings settings, PartitionWatch watch) {
    Promise<ClusterMember> promise = Promise.promise();
    onThread(
        "evenkeel-node-join",
        () -> {
          try {
            Ports.checkFree(settings.host(), settings.hazelcastPort());
            Ports.checkFree(settings.host(), settings.eventBusPort());
            EventBusOptions bus =
                new EventBusOptions()
                    .setHost(settings.host())
                    .setPort(settings.eventBusPort())
                    .setClusterPublicHost(settings.publicHost())
                    .setClusterPublicPort(settings.eventBusPort());
            HazelcastMember member =
                patiently(
                    () ->
                        join(
                            HazelcastConfigs.node(settings),
                            new EventBusOptions(bus),
                            settings.tls(),
                            settings.tracer(),
                            settings.addresses()));
            promise.complete(member.watched(watch));
          } catch (RuntimeException e) {
            promise.fail(e);
          }
        });
    return promise.future();
  }

  /**
   * Starts a member without data, for a program that uses the event bus of a cluster. Its address
   * is the one by which this machine reaches the nodes. Fails with {@code RefusedException}
   * UNAVAILABLE if no node answers, or none takes this member, each within 16 s.
   *
   * @param nodes host and base port of one or more nodes
   * @param tls what it shows nodes and checks them against; null: connections are not encrypted
   */
  public static Future<ClusterMember> lite(
      List<HostPort> nodes, String clusterName, TlsIdentity tls) {
    Promise<ClusterMember> promise = Promise.promise();
    onThread(
        "evenkeel-lite-join",
        () -> {
          try {
            promise.complete(joinLite(nodes, clusterName, tls));
          } catch (RuntimeException e) {
            promise.fail(e);
          }
        });
    return promise.future();
  }

  private static ClusterMember joinLite(List<HostPort> nodes, String clusterName, TlsIdentity tls) {
    RefusedException failed = Refusal.UNAVAILABLE.error("no node is named");
    for (HostPort node : nodes) {
      try {
        String host = Ports.localAddressTo(node.hazelcast());
        return join(
            HazelcastConfigs.lite(clusterName, host, node.hazelcast()),
            new EventBusOptions().setHost(host).setPort(0),
            tls,
            null,
            NodeAddresses.NONE,
            new VertxOptions());
      } catch (RefusedException e) {
        failed = e;
      }
    }
    throw failed;
  }

  /**
   * The member behind an application's own clustered Vert.x. The application closes it. Fails with
   * {@code RefusedException} INVALID if it is not clustered by Hazelcast.
   */
  public static Future<ClusterMember> of(Vertx clustered) {
    return managerOf(clustered)
        .compose(
            manager ->
                clustered.executeBlocking(
                    () ->
                        new HazelcastMember(
                            clustered,
                            manager.getHazelcastInstance(),
                            manager.getNodeId(),
                            false,
                            null)));
  }

  private static Future<HazelcastClusterManager> managerOf(Vertx clustered) {
    ClusterManager manager =
        clustered instanceof VertxInternal internal ? internal.clusterManager() : null;
    return manager instanceof HazelcastClusterManager hazelcast
        ? Future.succeededFuture(hazelcast)
        : Future.failedFuture(
            Refusal.INVALID.error(
                "this Vert.x is not clustered by Hazelcast: build it with a"
                    + " HazelcastClusterManager, or let Evenkeel.connect make one"));
  }

  /**
   * The shared maps as an application's own clustered Vert.x sees them. Nothing is to be closed.
   * Fails with {@code RefusedException} INVALID if it is not clustered by Hazelcast.
   */
  public static Future<SharedMaps> maps(Vertx clustered) {
    return managerOf(clustered)
        .compose(
            manager ->
                clustered.executeBlocking(
                    () -> new HazelcastMaps(clustered, manager.getHazelcastInstance())));
  }

  /**
   * The automata of a member in this JVM. All users of the member share them, because the event bus
   * delivers a message for the member to only one of them.
   *
   * @return null if there is no such member here
   */
  public static SharedAutomata shared(String memberId) {
    return HazelcastAutomata.of(memberId);
  }

  /**
   * Whether a call failed because the cluster did not answer or because this member has ended.
   * After joining again, the same call may succeed.
   */
  public static boolean lostSight(Throwable failure) {
    return Causes.include(HazelcastException.class, failure)
        || Causes.include(RetryableException.class, failure)
        || Causes.include(HazelcastInstanceNotActiveException.class, failure);
  }

  /** Joins, and tries again if that fails. Blocks. */
  static <T> T patiently(Supplier<T> join) {
    for (int tries = 1; ; tries++) {
      try {
        return join.get();
      } catch (RefusedException e) {
        boolean passes =
            e.refusal() == Refusal.UNAVAILABLE && !Thread.currentThread().isInterrupted();
        if (!passes || tries == JOIN_TRIES) {
          throw e;
        }
        LOG.warn("this node could not join the cluster and tries again: {}", e.getMessage());
      }
    }
  }

  /** As below, without TLS. */
  static HazelcastMember join(Config config, EventBusOptions bus) {
    return join(config, bus, null, null, NodeAddresses.NONE);
  }

  /**
   * Blocks until the member has joined.
   *
   * @param tls null: connections are not encrypted
   * @param tracer null: there is none
   */
  static HazelcastMember join(
      Config config,
      EventBusOptions bus,
      TlsIdentity tls,
      VertxTracerFactory tracer,
      NodeAddresses addresses) {
    FileSystemOptions noFiles =
        new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false);
    VertxOptions options = new VertxOptions().setFileSystemOptions(noFiles);
    return join(config, bus, tls, tracer, addresses, options);
  }

  private static HazelcastMember join(
      Config config,
      EventBusOptions bus,
      TlsIdentity tls,
      VertxTracerFactory tracer,
      NodeAddresses addresses,
      VertxOptions options) {
    HazelcastClock.use();
    HazelcastInstance own = tls == null ? null : startWithTls(config, tls);
    try {
      MemberListManager manager =
          own == null
              ? new MemberListManager(config, addresses)
              : new MemberListManager(own, addresses);
      options.setEventBusOptions(tls == null ? bus : BusTls.encrypted(bus, tls));
      return join(manager, options, tls, tracer, own);
    } catch (RuntimeException e) {
      if (own != null) {
        own.getLifecycleService().terminate();
      }
      throw e;
    }
  }

  static HazelcastInstance startWithTls(Config config, TlsIdentity tls) {
    // Vert.x sets it only for instances that it makes itself.
    config.getMemberAttributeConfig().setAttribute(NodeList.ID, UUID.randomUUID().toString());
    try {
      return TlsInstance.start(config, tls);
    } catch (RuntimeException e) {
      throw unavailable(e);
    }
  }

  /**
   * @param own the Hazelcast instance to end with the member; null: Vert.x ends it
   */
  private static HazelcastMember join(
      MemberListManager manager,
      VertxOptions options,
      TlsIdentity tls,
      VertxTracerFactory tracer,
      HazelcastInstance own) {
    options
        .getEventBusOptions()
        .setConnectTimeout(CONNECT_TIMEOUT_MILLIS)
        .setClusterPingInterval(PING_MILLIS)
        .setClusterPingReplyInterval(PING_MILLIS);
    if (BLOCKED_MILLIS != null) {
      options
          .setMaxEventLoopExecuteTime(BLOCKED_MILLIS)
          .setMaxEventLoopExecuteTimeUnit(TimeUnit.MILLISECONDS)
          .setWarningExceptionTime(BLOCKED_MILLIS)
          .setWarningExceptionTimeUnit(TimeUnit.MILLISECONDS)
          .setBlockedThreadCheckInterval(Math.max(1, BLOCKED_MILLIS / 4));
    }
    Vertx vertx;
    try {
      VertxBuilder builder = Vertx.builder().with(options).withClusterManager(manager);
      if (tracer != null) {
        builder.withTracer(tracer);
      }
      vertx = await(builder.buildClustered());
    } catch (RefusedException e) {
      // Vert.x leaves Hazelcast running, and the port in use.
      HazelcastInstance left = manager.getHazelcastInstance();
      if (left != null) {
        left.getLifecycleService().terminate();
      }
      throw e;
    }
    vertx.exceptionHandler(new UncaughtFailures());
    try {
      if (tls != null) {
        BusTls.followChanges(vertx, tls);
      }
      manager.begin();
      return new HazelcastMember(
          vertx, manager.getHazelcastInstance(), manager.getNodeId(), true, own);
    } catch (RuntimeException e) {
      vertx.close();
      throw unavailable(e);
    }
  }

  static Vertx await(Future<Vertx> future) {
    try {
      return future
          .toCompletionStage()
          .toCompletableFuture()
          .get(JOIN_MILLIS_MAX, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      future.onSuccess(Vertx::close);
      throw Refusal.UNAVAILABLE.error(
          "joining the cluster took longer than " + JOIN_MILLIS_MAX + " ms");
    } catch (InterruptedException e) {
      future.onSuccess(Vertx::close);
      Thread.currentThread().interrupt();
      throw Refusal.UNAVAILABLE.error("interrupted while joining the cluster");
    } catch (ExecutionException | CompletionException e) {
      throw unavailable(e.getCause());
    }
  }

  static RefusedException unavailable(Throwable cause) {
    return Refusal.UNAVAILABLE.error(
        "cannot join the cluster: "
            + (cause.getMessage() == null ? cause.toString() : cause.getMessage()));
  }

  static void onThread(String name, Runnable task) {
    // Not a daemon: a program lives while it joins, also after its main method has ended.
    new Thread(task, name).start();
  }
}
