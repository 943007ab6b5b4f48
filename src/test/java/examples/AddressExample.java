package examples;

import com.hazelcast.config.AdvancedNetworkConfig;
import com.hazelcast.config.Config;
import com.hazelcast.config.ServerSocketEndpointConfig;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.core.eventbus.Message;
import io.vertx.spi.cluster.hazelcast.ConfigUtil;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;

/**
 * An application that gets the messages of a topic at an address of the event bus. It has no class
 * of Evenkeel, only vertx-core and vertx-hazelcast: {@code AddressExample HOST:PORT}, where
 * Hazelcast of a node listens: at 5704, unless the node has another base port.
 */
public final class AddressExample extends VerticleBase {
  @Override
  public Future<?> start() {
    return vertx.eventBus().consumer("billing.handle", this::handle).completion();
  }

  private void handle(Message<Buffer> message) {
    String key = message.headers().get("evenkeel-key");
    System.out.println(key + ": " + message.body());
    message.reply(null); // the message is finished; message.fail(1, "why") lets it come again
  }

  public static void main(String[] args) {
    clusteredVertx(args[0])
        .compose(vertx -> vertx.deployVerticle(new AddressExample()))
        .onSuccess(deployed -> System.out.println("listening"))
        .onFailure(
            failure -> {
              System.err.println("not in the cluster: " + failure.getMessage());
              System.exit(1);
            });
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
    // Its own address: here the one on which the node is, too.
    config.setProperty("hazelcast.local.localAddress", host);
    config.setProperty("hazelcast.socket.bind.any", "false");
    AdvancedNetworkConfig network = config.getAdvancedNetworkConfig().setEnabled(true);
    network.setMemberEndpointConfig(new ServerSocketEndpointConfig().setPort(0));
    network.getJoin().getMulticastConfig().setEnabled(false);
    network.getJoin().getAutoDetectionConfig().setEnabled(false);
    network.getJoin().getTcpIpConfig().setEnabled(true).setRequiredMember(node);
    return Vertx.builder()
        .with(new VertxOptions().setEventBusOptions(new EventBusOptions().setHost(host).setPort(0)))
        .withClusterManager(new HazelcastClusterManager(config))
        .buildClustered();
  }
}
