package dev.evenkeel;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.bus.Link;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.internal.EvenkeelClientImpl;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.cluster.LiteMember;
import dev.evenkeel.cluster.NodeSettings;
import io.vertx.core.buffer.Buffer;
import org.junit.jupiter.api.Test;

/** An application with a clustered Vert.x of its own. */
class OwnVertxTest {

  @Test
  void isToldOfTheLossOfTheCluster() {
    int port = TestPorts.take(4);
    ClusterMember node = await(ClusterMembers.node(NodeSettings.lone(port)));
    ClusterMember own = null;
    try {
      await(
          node.vertx()
              .eventBus()
              .consumer("echo", message -> message.reply(message.body()))
              .completion());
      own = await(LiteMember.join(port));
      EvenkeelClient client = await(Evenkeel.with(own.vertx()));
      Link link = EvenkeelClientImpl.linkOf(client);
      assertThat(await(link.request("echo", Buffer.buffer("x"), 30_000)).toString()).isEqualTo("x");
      await(node.close());
      node = null;
      Wait.until(() -> link.state() == Link.State.LOST);
      await(client.close());
    } finally {
      if (node != null) {
        await(node.close());
      }
      if (own != null) {
        await(own.close());
      }
    }
  }
}
