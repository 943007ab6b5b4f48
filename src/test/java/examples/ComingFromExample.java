package examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.evenkeel.client.Acks;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;

/** What the pages for those who know other systems show. */
public final class ComingFromExample {
  private ComingFromExample() {}

  static Future<Producer.Position> send(EvenkeelClient client) {
    return client
        .producer(new ProducerOptions().setTopic("orders").setAcks(Acks.ALL))
        .compose(producer -> producer.send("customer-7", "hello".getBytes(UTF_8)));
  }

  static Future<Producer.Position> sendLater(Producer producer) {
    return producer.send("customer-7", "remind".getBytes(UTF_8), Duration.ofMinutes(30));
  }

  static Future<Consumer> inOrder(EvenkeelClient client, ConsumerHandler handler) {
    return client.consumer(
        new ConsumerOptions().setGroup("billing").setTopics(List.of("orders")), handler);
  }

  static Future<Consumer> workers(EvenkeelClient client, ConsumerHandler handler) {
    return client.consumer(
        new ConsumerOptions()
            .setGroup("resize")
            .setTopics(List.of("images"))
            .setOrder(ConsumerOptions.Order.NONE)
            .setParallel(8),
        handler);
  }

  static Future<Consumer> byKey(EvenkeelClient client, ConsumerHandler handler) {
    return client.consumer(
        new ConsumerOptions()
            .setGroup("billing")
            .setTopics(List.of("orders"))
            .setOrder(ConsumerOptions.Order.KEY),
        handler);
  }

  static Future<Consumer> withRetries(EvenkeelClient client, ConsumerHandler handler) {
    return client.consumer(
        new ConsumerOptions()
            .setGroup("mail")
            .setTopics(List.of("mails"))
            .setRetryDelaysMillis(List.of(1_000L, 10_000L, 60_000L)),
        handler);
  }
}
