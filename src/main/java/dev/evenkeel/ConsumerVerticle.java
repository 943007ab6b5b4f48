package dev.evenkeel;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.LeaderCareer;
import dev.evenkeel.client.internal.member.Consumers;
import dev.evenkeel.client.internal.member.LeaderHandler;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.json.JsonObject;

/**
 * A consumer to be deployed by name, {@code java:dev.evenkeel.ConsumerVerticle}. Several instances
 * are several members, so {@code member} must then be left out.
 *
 * <p>Configuration, as JSON: {@code handler} (required), the name of a public class with a public
 * constructor without arguments that implements {@link ConsumerHandler}, or {@link LeaderCareer}
 * for mode singleton, of which one is made for each instance; and everything of {@link
 * ConsumerOptions}, of which {@code group} and {@code topics} are required. Any other key is
 * refused.
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
    JsonObject given = config().copy();
    ConsumerHandler handler = handler((String) given.remove("handler"));
    ConsumerOptions options;
    try {
      options = new ConsumerOptions(given);
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
          ? new LeaderHandler(
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
