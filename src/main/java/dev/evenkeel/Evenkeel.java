package dev.evenkeel;

import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.internal.EvenkeelClientImpl;
import dev.evenkeel.client.internal.session.RejoiningLink;
import dev.evenkeel.cluster.ClientSettings;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.cluster.HostPort;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;

/**
 * The way into a cluster for an application.
 *
 * <p>An application without a clustered Vert.x of its own connects:
 *
 * <pre>{@code
 * Evenkeel.connect(new ClientOptions().setSeeds(List.of("127.0.0.1:5701")))
 *     .compose(client ->
 *         client
 *             .producer(new ProducerOptions().setTopic("orders"))
 *             .compose(producer -> producer.send("customer-7", "hello".getBytes(UTF_8)))
 *             .onSuccess(at -> System.out.println("shard " + at.shard() + ", offset " + at.offset()))
 *             .eventually(client::close));
 * }</pre>
 *
 * <p>Such a client outlives every restart of the cluster: when it lost sight of the nodes its
 * requests fail at once, and it joins afresh as soon as a node answers.
 *
 * <p>An application with a clustered Vert.x of its own uses that; it should be a Hazelcast
 * <em>lite</em> member, so that its coming and going moves no data:
 *
 * <pre>{@code
 * Evenkeel.with(vertx)
 *     .compose(client -> client.consumer(
 *         new ConsumerOptions().setGroup("billing").setTopics(List.of("orders")),
 *         delivery -> bill(delivery.message())));
 * }</pre>
 *
 * <p>If all nodes of the cluster are gone at one time, the event bus of such a Vert.x is left
 * without its registrations and does not recover. {@code client.onState(...)} then tells {@code
 * LOST}, for good; the application closes the client and its Vert.x, makes another Vert.x, and
 * calls {@link #with} again.
 */
public final class Evenkeel {
  private Evenkeel() {}

  /**
   * Joins a cluster as a member without data. Fails with {@code RefusedException} INVALID for a
   * seed that is not HOST:PORT, UNAVAILABLE if no seed answers in time.
   */
  public static Future<EvenkeelClient> connect(ClientOptions options) {
    return link(options).map(EvenkeelClientImpl::new);
  }

  /**
   * The link alone, for parts of Evenkeel that speak to the cluster themselves: no API for
   * applications. Fails as {@link #connect}.
   */
  public static Future<Link> link(ClientOptions options) {
    ClientSettings settings;
    try {
      settings =
          new ClientSettings(
              HostPort.parseAll(options.getSeeds()),
              options.getHost(),
              options.getClusterName(),
              options.getConnectTimeoutMillis());
    } catch (RefusedException refused) {
      return Future.failedFuture(refused);
    }
    return RejoiningLink.connect(Vertx.vertx(), settings);
  }

  /**
   * Uses an application's own Vert.x, which stays open when the client is closed. Fails with {@code
   * RefusedException} INVALID if it is not clustered by Hazelcast.
   */
  public static Future<EvenkeelClient> with(Vertx clustered) {
    return ClusterMembers.of(clustered)
        .map(
            member -> {
              VertxLink link = VerticleConnection.over(clustered, member);
              link.nodesInSight(member.dataMembers());
              return new EvenkeelClientImpl(link);
            });
  }
}
