package examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ProducerOptions;
import io.vertx.core.Future;
import java.util.List;

/** Sends one message and prints it when it arrives. */
public final class FirstExample {
  private FirstExample() {}

  public static void main(String[] args) {
    Evenkeel.connect(new ClientOptions().setSeeds(List.of("127.0.0.1:5701")))
        .compose(
            client ->
                client
                    .producer(new ProducerOptions().setTopic("orders"))
                    .compose(producer -> producer.send("customer-7", "hello".getBytes(UTF_8)))
                    .compose(
                        sent ->
                            client.consumer(
                                new ConsumerOptions()
                                    .setGroup("billing")
                                    .setTopics(List.of("orders")),
                                delivery -> {
                                  System.out.println(
                                      new String(delivery.message().payload(), UTF_8));
                                  return Future.succeededFuture();
                                })))
        .onFailure(failure -> System.err.println(failure));
  }
}
