package examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.ProducerOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;

/**
 * A verticle that uses Evenkeel in whatever Vert.x {@code evenkeel run} deploys it: it sends a
 * greeting to the topic {@code greetings}.
 */
public final class GreetingVerticle extends VerticleBase {
  private EvenkeelClient client;

  @Override
  public Future<?> start() {
    return Evenkeel.with(vertx)
        .onSuccess(connected -> client = connected)
        .compose(connected -> connected.producer(new ProducerOptions().setTopic("greetings")))
        .compose(producer -> producer.send("hello", config().getString("text").getBytes(UTF_8)))
        .onSuccess(position -> System.out.println("greeted at offset " + position.offset()));
  }

  @Override
  public Future<?> stop() {
    return client == null ? Future.succeededFuture() : client.close();
  }
}
