package dev.evenkeel;

import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.LeaderCareer;
import dev.evenkeel.client.internal.member.ConsumerConfig;
import dev.evenkeel.client.internal.member.Consumers;
import dev.evenkeel.client.internal.member.LeaderHandler;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;

/**
 * Runs a consumer with a handler class, or one that sends messages to an address of the event bus.
 * It can be deployed by name. Each instance is a member of the group, so leave {@code member} out
 * if you deploy several.
 *
 * <pre>{@code
 * vertx.deployVerticle(
 *     "java:dev.evenkeel.ConsumerVerticle",
 *     new DeploymentOptions().setConfig(
 *         new JsonObject()
 *             .put("handler", "com.example.Billing")
 *             .put("group", "billing")
 *             .put("topics", new JsonArray().add("orders"))));
 * }</pre>
 *
 * <p>Configuration: {@code handler} or {@code address}, and the keys of {@link ConsumerOptions}, of
 * which {@code group} and {@code topics} are required. Any other key is refused. The handler is a
 * public class with a public constructor without arguments that implements {@link ConsumerHandler},
 * or in mode singleton {@link LeaderCareer}. Each instance of the verticle makes its own handler.
 *
 * <p>With {@code address}, each message is a request to that address on the event bus of this
 * Vert.x: its body is the payload. A reply finishes the message. A failure, and no reply within
 * {@code addressTimeoutMillis} (by default 30 s), are failed attempts. While nobody listens at the
 * address, messages wait and no attempt counts.
 *
 * <p>The verticle uses the connection that {@link dev.evenkeel.bus.LocalObjects} has for its
 * Vert.x. If there is none, it makes one on this Vert.x, which then must be clustered by Hazelcast.
 * If the consumer ends by itself, for example because another member took its name, this is logged
 * and the verticle stays deployed without it.
 */
public final class ConsumerVerticle extends VerticleBase {
  private VerticleConnection connection;
  private Consumer consumer;

  /**
   * Joins the group. Completes when the dispatcher has taken the member in. Fails with {@link
   * RefusedException}: INVALID for a bad configuration, and as {@code EvenkeelClient.consumer}
   * does.
   */
  @Override
  public Future<?> start() {
    ConsumerConfig given = ConsumerConfig.of(config());
    ConsumerOptions options = given.options();
    ConsumerHandler handler =
        given.address() == null
            ? handler(given.handler())
            : given.address().handler(vertx, options);
    connection = new VerticleConnection(vertx);
    return connection
        .link()
        .compose(link -> Consumers.start(link, connection.directory(link), options, handler))
        .onSuccess(started -> consumer = started)
        .recover(failure -> connection.close().transform(done -> Future.failedFuture(failure)));
  }

  private static ConsumerHandler handler(String name) {
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
          "handler '%s' must be a public class with a public constructor without arguments that"
              + " implements ConsumerHandler: %s",
          name,
          e);
    }
  }

  /** Releases every shard and leaves the group; this takes no longer than the lock time. */
  @Override
  public Future<?> stop() {
    Future<Void> closed = consumer == null ? Future.succeededFuture() : consumer.close();
    return closed.eventually(connection::close);
  }
}
