package dev.evenkeel.consumer;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;

/**
 * A consumer to be deployed by name, {@code java:dev.evenkeel.consumer.ConsumerVerticle}. Several
 * instances are several members, so {@code member} must then be left out.
 *
 * <p>Configuration, as JSON:
 *
 * <pre>
 * handler              name of a public class with a public constructor without arguments that
 *                      implements {@link ConsumerHandler}, or {@link LeaderCareer} for mode
 *                      singleton; one is made for each instance
 * group                name of the group
 * topics               array of names of topics
 * member               name, unique in the group; made up if absent
 * mode                 "sharded" (default), "level" or "singleton"
 * dedup                what makes a message the same as another: "off" (default), "key", "payload"
 * dedupTimeoutMillis   with dedup: a handler keeps its key for so long at most, 60000
 * order                "shard" (default), "key" or "none"
 * parallel             most handlers at once, 16
 * startKind            where a new group begins: "EARLIEST" (default), "LATEST", "TIMESTAMP", "OFFSET"
 * startValue           milliseconds since 1970 for TIMESTAMP, the offset for OFFSET
 * heartbeatMillis      1000
 * memberTimeoutMillis  5000
 * lockTimeMillis       50000, also the longest time that undeploying takes
 * assignor             name of who gets which shard; what the group has if absent
 * stuckTimeoutMillis   a shard on which nothing is finished for so long is lost; never if absent
 * crashLockTimeMillis  0
 * pendingMessagesMax   3000
 * pendingBytesMax      16777216
 * fetchBytesMax        1048576
 * fetchWaitMillis      15000
 * commitMillis         5000
 * commitMessages       1000
 * handOutMessages      most messages of one shard that are handed out at once, 32
 * </pre>
 *
 * <p>It uses the {@link Link} (and {@link ClusterDirectory}) that {@link LocalObjects} has for its
 * Vert.x; if there is none, the clustered Vert.x that it is deployed on.
 */
public final class ConsumerVerticle extends VerticleBase {
  private Link ownLink;
  private ClusterDirectory ownDirectory;
  private Consumer consumer;

  /** Completes when the dispatcher has taken the member in; fails as {@link Consumers#start}. */
  @Override
  public Future<?> start() {
    ConsumerHandler handler = handler(config().getString("handler"));
    ConsumerOptions options;
    try {
      options = new ConsumerOptions(config());
    } catch (ClassCastException | IllegalArgumentException e) {
      throw new RefusedException(Refusal.INVALID, "bad configuration: " + e.getMessage());
    }
    return link()
        .compose(link -> Consumers.start(link, directory(link), options, handler))
        .onSuccess(started -> consumer = started)
        .recover(failure -> cleanUp().transform(done -> Future.failedFuture(failure)));
  }

  private Future<Link> link() {
    Link shared = LocalObjects.get(vertx, Link.class);
    if (shared != null) {
      return Future.succeededFuture(shared);
    }
    return ClusterMembers.of(vertx)
        .map(
            member -> {
              VertxLink link = new VertxLink(vertx, member.id());
              member.onChange(change -> link.nodesInSight(change.dataMembers()));
              ownLink = link;
              return link;
            });
  }

  private ClusterDirectory directory(Link link) {
    ClusterDirectory shared =
        ownLink == null ? LocalObjects.get(vertx, ClusterDirectory.class) : null;
    if (shared != null) {
      return shared;
    }
    ownDirectory = new ClusterDirectory(link);
    return ownDirectory;
  }

  private static ConsumerHandler handler(String name) {
    if (name == null) {
      throw new RefusedException(
          Refusal.INVALID,
          "the configuration needs 'handler': the name of a ConsumerHandler class");
    }
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    try {
      Class<?> type =
          Class.forName(
              name, true, loader == null ? ConsumerVerticle.class.getClassLoader() : loader);
      return LeaderCareer.class.isAssignableFrom(type)
          ? LeaderCareer.handler(
              type.asSubclass(LeaderCareer.class).getDeclaredConstructor().newInstance())
          : type.asSubclass(ConsumerHandler.class).getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw new RefusedException(
          Refusal.INVALID,
          "handler '"
              + name
              + "' must be a public class with a public constructor without"
              + " arguments that implements ConsumerHandler: "
              + e);
    }
  }

  /** Releases every shard and leaves the group. */
  @Override
  public Future<?> stop() {
    Future<Void> closed = consumer == null ? Future.succeededFuture() : consumer.close();
    return closed.eventually(this::cleanUp);
  }

  private Future<Void> cleanUp() {
    if (ownDirectory != null) {
      ownDirectory.close();
    }
    return ownLink == null ? Future.succeededFuture() : ownLink.close();
  }
}
