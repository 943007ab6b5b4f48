package examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.Message;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;

/** Accepts a message, and leaves it to the spool to get it into the log. */
public final class SpoolExample {
  private SpoolExample() {}

  public static void main(String[] args) {
    Evenkeel.connect(new ClientOptions().setSeeds(List.of(args[0])))
        .compose(client -> accept(client, args[1]).eventually(client::close))
        .onSuccess(none -> System.out.println("accepted"))
        .onFailure(Throwable::printStackTrace);
  }

  private static Future<Void> accept(EvenkeelClient client, String directory) {
    Message message =
        new Message(
            "customer-1".getBytes(UTF_8),
            Map.of(),
            System.currentTimeMillis(),
            "an order".getBytes(UTF_8));
    ProducerOptions options = new ProducerOptions().setTopic("orders").setSpool(directory);
    return client
        .spoolingProducer(options, null)
        // Safe from now on: it will be sent, if not by this program then by the next one.
        .compose(producer -> producer.spool(message).map(none -> producer))
        .mapEmpty();
  }
}
