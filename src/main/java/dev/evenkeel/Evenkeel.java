package dev.evenkeel;

import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.internal.EvenkeelClientImpl;
import dev.evenkeel.client.internal.session.Credentials;
import dev.evenkeel.client.internal.session.SessionLink;
import dev.evenkeel.client.plain.PlainClient;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.List;

/**
 * Connects an application to a cluster.
 *
 * <p>An application without a clustered Vert.x of its own calls {@link #connect}:
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
 * <p>Such a client survives every restart of the cluster: while no node is in sight its state is
 * {@code LOST}, and it connects again by itself as soon as a node answers.
 *
 * <p>An application with a clustered Vert.x of its own calls {@link #with}. Its Vert.x should be a
 * Hazelcast <em>lite</em> member, so that no data moves when the application starts or stops:
 *
 * <pre>{@code
 * Evenkeel.with(vertx)
 *     .compose(client -> client.consumer(
 *         new ConsumerOptions().setGroup("billing").setTopics(List.of("orders")),
 *         delivery -> bill(delivery.message())));
 * }</pre>
 *
 * <p>If all nodes of the cluster are down at the same time, the event bus of such a Vert.x loses
 * its registrations and does not recover. The client's state then stays {@code LOST}, which {@code
 * client.onState(...)} reports. Close the client and its Vert.x, make another Vert.x, and call
 * {@link #with} again.
 *
 * <p>All methods may be called from any thread.
 */
public final class Evenkeel {
  private Evenkeel() {}

  /**
   * Connects to a cluster, on a new Vert.x. The client opens TCP connections to the client ports of
   * nodes, and nobody connects to it. Completes when one node has answered. Fails with {@code
   * RefusedException} INVALID for a seed that is not HOST:PORT, with UNAUTHENTICATED if the nodes
   * know no user with the token or certificate of the options, and with UNAVAILABLE if no seed
   * answers within {@link ClientOptions#setConnectTimeoutMillis}, or none of them is the client
   * port of a node.
   */
  public static Future<EvenkeelClient> connect(ClientOptions options) {
    return link(options).map(EvenkeelClientImpl::new);
  }

  /**
   * As {@link #connect(ClientOptions)}, on an application's own Vert.x, which need not be
   * clustered. It stays open when the client is closed. If it has a tracer, messages can carry
   * traces.
   */
  public static Future<EvenkeelClient> connect(Vertx vertx, ClientOptions options) {
    return link(vertx, options, false).map(EvenkeelClientImpl::new);
  }

  /**
   * As {@link #connect}, for code without Vert.x. Waits until one node has answered.
   *
   * @throws RefusedException as {@link #connect} fails
   * @throws InterruptedException if the thread is interrupted meanwhile
   * @throws IllegalStateException on an event loop, which must not wait
   */
  public static PlainClient connectAndWait(ClientOptions options) throws InterruptedException {
    return PlainClient.await(connect(options));
  }

  /**
   * Makes only the connection, for parts of Evenkeel that send requests to the cluster themselves.
   * It is no API for applications. Fails as {@link #connect} does.
   */
  public static Future<Link> link(ClientOptions options) {
    return link(null, options, true);
  }

  /**
   * @param own null: a new one
   * @param closes whether the link closes its Vert.x
   */
  private static Future<Link> link(Vertx own, ClientOptions options, boolean closes) {
    List<HostPort> seeds;
    try {
      seeds = HostPort.parseAll(options.getSeeds());
    } catch (RefusedException refused) {
      return Future.failedFuture(refused);
    }
    Vertx vertx = own == null ? Vertx.vertx() : own;
    // Without a context: that of a new Vert.x ends when connecting fails.
    Promise<Link> connected = Promise.promise();
    vertx
        .executeBlocking(() -> Credentials.of(options), false)
        .onSuccess(
            credentials ->
                SessionLink.connect(
                        vertx,
                        closes,
                        seeds,
                        options.getClusterName(),
                        options.getConnectTimeoutMillis(),
                        credentials)
                    .onComplete(connected))
        .onFailure(
            failure ->
                (closes ? vertx.close() : Future.succeededFuture())
                    .onComplete(closed -> connected.fail(failure)));
    return connected.future();
  }

  /**
   * Makes a client on an application's own clustered Vert.x, which stays open when the client is
   * closed. Fails with {@code RefusedException} INVALID if the Vert.x is not clustered by
   * Hazelcast, or vertx-hazelcast is not on the class path.
   *
   * <p>A verticle that {@code evenkeel run} has deployed can call it, too. If its Vert.x is not
   * clustered, the client connects as {@link #connect(Vertx, ClientOptions)}, with the options of
   * the command.
   */
  public static Future<EvenkeelClient> with(Vertx clustered) {
    ClientOptions options = LocalObjects.get(clustered, ClientOptions.class);
    return options == null ? withMember(clustered) : connect(clustered, options);
  }

  private static Future<EvenkeelClient> withMember(Vertx clustered) {
    return VerticleConnection.member(clustered)
        .map(
            member -> {
              VertxLink link = VerticleConnection.over(clustered, member);
              link.nodesInSight(member.dataMembers());
              return new EvenkeelClientImpl(link);
            });
  }
}
