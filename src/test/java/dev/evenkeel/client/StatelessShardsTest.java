package dev.evenkeel.client;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Options;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.testkit.EmbeddedNode;
import dev.evenkeel.testkit.EvenkeelExtension;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** State that comes with messages, in shards that are sealed before any message brought some. */
class StatelessShardsTest {
  @RegisterExtension static final EvenkeelExtension EVENKEEL = new EvenkeelExtension();

  private static final String POISON = "poison";

  /** The states that shards of each layout begin with, by their first number. */
  private final Queue<Map.Entry<Integer, String>> began = new ConcurrentLinkedQueue<>();

  private ConsumerHandler handler() {
    return new ContextHandler() {
      @Override
      public Future<Void> onAssign(ShardContext shard, Buffer state) {
        began.add(Map.entry(shard.firstShard(), String.valueOf(state)));
        return Future.succeededFuture();
      }

      @Override
      public Future<Void> onAssignFromParents(ShardContext shard, List<ParentState> parents) {
        parents.forEach(each -> began.add(Map.entry(shard.firstShard(), each.state().toString())));
        return Future.succeededFuture();
      }

      @Override
      public Future<Void> handle(Delivery delivery, MessageContext context) {
        String text = new String(delivery.message().payload(), StandardCharsets.UTF_8);
        if (text.equals(POISON)) {
          return Future.failedFuture("meant to fail");
        }
        context.commit(Buffer.buffer(text));
        return Future.succeededFuture();
      }
    };
  }

  private Consumer consumer(EmbeddedNode node, String topic) {
    return await(
        node.client()
            .consumer(
                Options.group(topic, topic)
                    .setOrder(ConsumerOptions.Order.SHARD)
                    .setDelivery(ConsumerOptions.DeliveryPolicy.EFFECTIVELY_ONCE)
                    .setRetryDelaysMillis(List.of()),
                handler()));
  }

  @Test
  void stateComesAlongPastAShardInWhichAllMessagesHaveFailed(EmbeddedNode node) {
    node.createTopic("failed", 1);
    Consumer consumer = consumer(node, "failed");
    send(node, "failed", "first");
    node.awaitConsumed("failed");
    await(node.admin().reshard("failed", 2));
    send(node, "failed", POISON);
    node.awaitConsumed("failed");
    await(node.admin().reshard("failed", 1));
    send(node, "failed", "last");
    node.awaitConsumed("failed");
    assertThat(began).contains(Map.entry(3, "first"));
    await(consumer.close());
  }

  @Test
  void stateComesAlongPastAShardThatWasGivenBackWithoutAMessage(EmbeddedNode node) {
    node.createTopic("given", 1);
    Consumer consumer = consumer(node, "given");
    send(node, "given", "first");
    node.awaitConsumed("given");
    await(node.admin().reshard("given", 2));
    await().until(() -> began.contains(Map.entry(1, "first")));
    await(consumer.close());
    consumer = consumer(node, "given");
    await(node.admin().reshard("given", 1));
    send(node, "given", "last");
    node.awaitConsumed("given");
    assertThat(began).contains(Map.entry(3, "first"));
    await(consumer.close());
  }

  private static void send(EmbeddedNode node, String topic, String text) {
    Producer producer = await(node.client().producer(new ProducerOptions().setTopic(topic)));
    await(
        producer.send(new Message(new byte[] {1}, null, 0, text.getBytes(StandardCharsets.UTF_8))));
    await(producer.close());
  }
}
