package examples;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.Serde;
import dev.evenkeel.client.TypedProducer;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** The tutorial: {@code TutorialExample send COUNT}, or {@code TutorialExample bill MEMBER}. */
public final class TutorialExample {
  private static final ClientOptions CLUSTER =
      new ClientOptions().setSeeds(List.of("127.0.0.1:5701"));

  private TutorialExample() {}

  public static void main(String[] args) {
    if (args[0].equals("send")) {
      send(Integer.parseInt(args[1]));
    } else {
      bill(args[1]);
    }
  }

  private static void send(int count) {
    Evenkeel.connect(CLUSTER)
        .compose(
            client ->
                client
                    .producer(new ProducerOptions().setTopic("orders"))
                    .map(Serde.JSON::producer)
                    .compose(orders -> sendAll(orders, count))
                    .onSuccess(sent -> System.out.println("acknowledged " + count))
                    .eventually(client::close))
        .onFailure(failure -> System.err.println(failure));
  }

  private static Future<?> sendAll(TypedProducer<JsonObject> orders, int count) {
    List<Future<?>> sent = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      JsonObject order = new JsonObject().put("number", i).put("total", i % 7 * 10);
      sent.add(orders.send("customer-" + i % 5, order));
    }
    return Future.all(sent);
  }

  private static void bill(String member) {
    ConsumerOptions options =
        new ConsumerOptions()
            .setGroup("billing")
            .setTopics(List.of("orders"))
            .setMember(member)
            .setRetryDelaysMillis(List.of(1_000L));
    Evenkeel.connect(CLUSTER)
        .compose(
            client ->
                client.consumer(
                    options,
                    Serde.JSON.blockingHandler(
                        (order, delivery) -> {
                          if (order.getInteger("total") == 0) {
                            throw new IllegalArgumentException("nothing to pay");
                          }
                          Thread.sleep(10);
                          System.out.println(
                              delivery.message().keyText() + " pays " + order.getInteger("total"));
                        })))
        .onFailure(failure -> System.err.println(failure));
  }
}
