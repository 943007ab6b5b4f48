package examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.plain.PlainClient;
import dev.evenkeel.client.plain.PlainProducer;
import dev.evenkeel.testkit.EmbeddedNode;
import dev.evenkeel.testkit.EvenkeelExtension;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A test of an application with a real queue. */
class OrdersTest {
  @RegisterExtension
  static final EvenkeelExtension EVENKEEL = new EvenkeelExtension().withTopic("orders", 4);

  /** What the application keeps: the orders of each customer. */
  private final Map<String, Integer> orders = new ConcurrentHashMap<>();

  private void consumer(EvenkeelClient client, String member) {
    ConsumerOptions options =
        new ConsumerOptions().setGroup("billing").setMember(member).setTopics(List.of("orders"));
    client.consumer(
        options,
        delivery -> {
          orders.merge(delivery.message().keyText(), 1, Integer::sum);
          return Future.succeededFuture();
        });
  }

  @Test
  void noOrderIsLostWhenAConsumerDies(EmbeddedNode node, EvenkeelClient client, PlainClient plain)
      throws InterruptedException {
    consumer(client, "first");
    consumer(client, "second");
    node.awaitMembers("billing", 2);
    try (PlainProducer producer = plain.producer(new ProducerOptions().setTopic("orders"))) {
      for (int i = 0; i < 100; i++) {
        producer.send("customer-" + i % 10, "an order".getBytes(UTF_8));
        if (i == 50) {
          node.expireMember("billing", "second");
        }
      }
    }
    node.awaitConsumed("billing");
    assertEquals(10, orders.size());
    // What the second consumer had in hand is delivered again.
    orders.forEach((customer, count) -> assertTrue(count >= 10, customer));
  }
}
