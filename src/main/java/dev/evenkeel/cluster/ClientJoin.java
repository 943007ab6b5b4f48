package dev.evenkeel.cluster;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.eventbus.EventBusOptions;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Joins the cluster by the first seed that answers, and tries again until the time is up. It opens
 * a connection to the seed first, because Hazelcast would wait long for one that is not there. Runs
 * on its own thread.
 */
public final class ClientJoin {
  /** Pause between two rounds over the seeds. */
  private static final long PAUSE_MILLIS = 100;

  /**
   * Longest wait for one seed in the first round. A node that hangs must not keep the client from
   * the next seed for long. Each round waits twice as long, up to {@link #SEED_SECONDS_MAX}: on an
   * overloaded machine joining itself takes that long.
   */
  private static final int SEED_SECONDS_MIN = 4;

  private static final int SEED_SECONDS_MAX = 16;

  private static final Logger LOG = LoggerFactory.getLogger(ClientJoin.class);

  private final ClientSettings settings;
  private final Promise<ClusterMember> promise = Promise.promise();
  private final CountDownLatch cancelled = new CountDownLatch(1);
  private String lastFault;

  ClientJoin(ClientSettings settings) {
    this.settings = settings;
  }

  public Future<ClusterMember> member() {
    return promise.future();
  }

  /**
   * Cancels joining: {@link #member()} fails with UNAVAILABLE at once, and a member that joins all
   * the same is closed. Does nothing once the member is there.
   */
  public void cancel() {
    if (promise.tryFail(new RefusedException(Refusal.UNAVAILABLE, "joining was cancelled"))) {
      cancelled.countDown();
    }
  }

  void run() {
    long started = System.nanoTime();
    long limit = TimeUnit.MILLISECONDS.toNanos(settings.connectTimeoutMillis());
    String trouble = "nobody answers";
    int seedSeconds = SEED_SECONDS_MIN;
    try {
      do {
        boolean answered = false;
        for (HostPort seed : settings.seeds()) {
          String own = isCancelled() ? null : Ports.probe(seed.hazelcast());
          if (own != null) {
            answered = true;
            String host = settings.host() == null ? own : settings.host();
            trouble = joinBy(seed, host, seedSeconds);
          }
          if (isCancelled() || promise.future().isComplete()) {
            return;
          }
        }
        if (answered) {
          seedSeconds = Math.min(SEED_SECONDS_MAX, 2 * seedSeconds);
        }
        if (System.nanoTime() - started > limit) {
          promise.tryFail(failure(trouble));
          return;
        }
      } while (!cancelled.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      promise.tryFail(new RefusedException(Refusal.UNAVAILABLE, "interrupted while joining"));
    } catch (RuntimeException | Error e) {
      // Otherwise the caller would wait for ever.
      promise.tryFail(ClusterMembers.unavailable(e));
      throw e;
    }
  }

  /** Joins by one seed. Returns why it failed, or null. */
  private String joinBy(HostPort seed, String host, int seedSeconds) {
    HazelcastMember member;
    try {
      member =
          ClusterMembers.join(
              HazelcastConfigs.client(settings, seed, host, seedSeconds),
              new EventBusOptions().setHost(host).setPort(0));
    } catch (RefusedException e) {
      return e.getMessage();
    } catch (RuntimeException e) {
      String trouble = ClusterMembers.unavailable(e).getMessage();
      if (!trouble.equals(lastFault)) {
        lastFault = trouble;
        LOG.info("joining by {} failed; trying again", seed, e);
      }
      return trouble;
    }
    if (member.dataMembers() == 0) {
      member.close();
      return "no node is there";
    }
    if (!promise.tryComplete(member)) {
      member.close();
    }
    return null;
  }

  private boolean isCancelled() {
    return cancelled.getCount() == 0;
  }

  private RefusedException failure(String trouble) {
    return new RefusedException(
        Refusal.UNAVAILABLE,
        "no node of cluster '"
            + settings.clusterName()
            + "' at "
            + settings.seeds()
            + " within "
            + settings.connectTimeoutMillis()
            + " ms ("
            + trouble
            + "): start one, or name others with ClientOptions.setSeeds");
  }
}
