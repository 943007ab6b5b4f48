package examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.hazelcast.config.AdvancedNetworkConfig;
import com.hazelcast.config.Config;
import com.hazelcast.config.ServerSocketEndpointConfig;
import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ConnectionState;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.spi.cluster.hazelcast.ConfigUtil;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * An application that uses Evenkeel over a clustered Vert.x of its own, as a Hazelcast lite member:
 * {@code OwnVertxExample HOST:PORT TOPIC GROUP}, where Hazelcast of a node listens: at 5704, unless
 * the node has another base port. It prints payloads until it is killed, and finds its way back
 * when all nodes were gone.
 */
public final class OwnVertxExample {
  private final String node;
  private final ConsumerOptions options;

  private OwnVertxExample(String node, ConsumerOptions options) {
    this.node = node;
    this.options = options;
  }

  public static void main(String[] args) {
    new OwnVertxExample(
            args[0], new ConsumerOptions().setGroup(args[2]).setTopics(List.of(args[1])))
        .run();
  }

  private void run() {
    clusteredVertx(node).onSuccess(this::use).onFailure(this::again);
  }

  private void use(Vertx vertx) {
    Evenkeel.with(vertx)
        .compose(
            client -> {
              client.onState(
                  state -> {
                    if (state == ConnectionState.LOST) {
                      // For good: this Vert.x does not recover. Another one takes its place.
                      startAfresh(client, vertx);
                    }
                  });
              return client.consumer(
                  options,
                  delivery -> {
                    System.out.println(new String(delivery.message().payload(), UTF_8));
                    return Future.succeededFuture();
                  });
            })
        .onSuccess(consumer -> System.err.println("joined as " + consumer.member()))
        .onFailure(failure -> vertx.close().onComplete(closed -> again(failure)));
  }

  private void startAfresh(EvenkeelClient client, Vertx vertx) {
    client.close().eventually(vertx::close).onComplete(closed -> run());
  }

  private void again(Throwable failure) {
    System.err.println("not joined, trying again: " + failure.getMessage());
    CompletableFuture.delayedExecutor(500, TimeUnit.MILLISECONDS).execute(this::run);
  }

  /** A Vert.x in the nodes' cluster, without data. Fails if the node is not there. */
  public static Future<Vertx> clusteredVertx(String node) {
    String host = node.substring(0, node.lastIndexOf(':'));
    Config config = ConfigUtil.loadConfig(); // what vertx-hazelcast needs of its maps
    config.setClusterName("evenkeel").setLiteMember(true);
    // Must be what the nodes have, or they refuse the member.
    config.setProperty("hazelcast.partition.count", "31");
    config.setProperty("hazelcast.wait.seconds.before.join", "0");
    config.setProperty("hazelcast.max.join.seconds", "4");
    config.setProperty("hazelcast.logging.type", "slf4j");
    // Its own address: here the one on which the node is, too.
    config.setProperty("hazelcast.local.localAddress", host);
    config.setProperty("hazelcast.socket.bind.any", "false");
    // The advanced one: in the other a member's sending stands still while a node hangs.
    AdvancedNetworkConfig network = config.getAdvancedNetworkConfig().setEnabled(true);
    network.setMemberEndpointConfig(new ServerSocketEndpointConfig().setPort(0));
    network.getJoin().getMulticastConfig().setEnabled(false);
    network.getJoin().getAutoDetectionConfig().setEnabled(false);
    // A required member: without it this one fails, and forms no cluster of its own.
    network.getJoin().getTcpIpConfig().setEnabled(true).setRequiredMember(node);
    return Vertx.builder()
        .with(new VertxOptions().setEventBusOptions(new EventBusOptions().setHost(host).setPort(0)))
        .withClusterManager(new HazelcastClusterManager(config))
        .buildClustered();
  }
}
