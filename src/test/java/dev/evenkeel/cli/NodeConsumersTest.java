package dev.evenkeel.cli;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Wait;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.testkit.EmbeddedNode;
import dev.evenkeel.testkit.EvenkeelExtension;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.Message;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The consumers of the setting {@code consumers}, at a node in this JVM. */
class NodeConsumersTest {
  @RegisterExtension static final EvenkeelExtension EVENKEEL = new EvenkeelExtension();

  private final String topic = "t-" + System.nanoTime();
  private final List<Message<Buffer>> got = new CopyOnWriteArrayList<>();
  private EvenkeelClient client;
  @Closing private NodeConsumers consumers;

  @BeforeEach
  void connect(EmbeddedNode node) {
    client = node.client();
  }

  private void start(JsonObject more) {
    JsonObject entry =
        new JsonObject()
            .put("group", topic)
            .put("member", "m")
            .put("topics", new JsonArray().add(topic))
            .put("address", topic)
            .mergeIn(more);
    consumers = new NodeConsumers(client, NodeConsumers.configs(List.of(entry)));
    consumers.start();
  }

  private void send(String payload) {
    Producer producer = await(client.producer(new ProducerOptions().setTopic(topic)));
    await(producer.send(null, payload.getBytes(StandardCharsets.UTF_8)));
    await(producer.close());
  }

  private boolean isMember() {
    return await(client.admin().groups()).stream().anyMatch(each -> each.group().equals(topic))
        && !await(client.admin().group(topic)).members().isEmpty();
  }

  /** The topic may come later. On close, nobody waits long for replies. */
  @Test
  void joinsWhenItCanAndLeavesOnClose(EmbeddedNode node) {
    start(new JsonObject());
    client.vertx().eventBus().<Buffer>consumer(topic, got::add);
    node.createTopic(topic, 1);
    send("a");
    Wait.until(() -> got.size() == 1);
    got.get(0).reply(null);
    send("b");
    Wait.until(() -> got.size() == 2);
    assertThat(got.get(1).body().toString()).isEqualTo("b");
    await(consumers.close());
    assertThat(isMember()).isFalse();
    assertThat(await(client.admin().group(topic)).shards().get(0).lag())
        .as("b is not finished")
        .isEqualTo(1);
  }

  @Test
  void comesBackAfterItHasEnded(EmbeddedNode node) {
    node.createTopic(topic, 1);
    client
        .vertx()
        .eventBus()
        .<Buffer>consumer(
            topic,
            message -> {
              got.add(message);
              if (got.size() == 1) {
                message.fail(1, "stop");
              } else {
                message.reply(null);
              }
            });
    start(new JsonObject().put("onFailure", "stop"));
    send("a");
    node.awaitConsumed(topic);
    assertThat(got).extracting(each -> each.body().toString()).containsExactly("a", "a");
  }

  @Test
  void pausesGrowAndAreLongAfterAnotherMemberHasTakenTheName() {
    RefusedException passing = Refusal.UNKNOWN_TOPIC.error("no topic");
    assertThat(NodeConsumers.pauseMillis(passing, 1)).isEqualTo(1_000);
    assertThat(NodeConsumers.pauseMillis(passing, 100)).isEqualTo(30_000);
    RefusedException replaced = Refusal.MEMBER_REPLACED.error("another run of m");
    assertThat(NodeConsumers.pauseMillis(replaced, 1)).isEqualTo(300_000);
  }
}
