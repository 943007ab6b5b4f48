package examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;

/** Sends numbered messages of ten customers: {@code ProduceExample HOST:PORT TOPIC COUNT}. */
public final class ProduceExample {
  private static final int CHUNK_MESSAGES = 1_000;

  private ProduceExample() {}

  public static void main(String[] args) {
    String node = args[0];
    String topic = args[1];
    int count = Integer.parseInt(args[2]);
    Evenkeel.connect(new ClientOptions().setSeeds(List.of(node)))
        .compose(
            client ->
                client
                    .producer(new ProducerOptions().setTopic(topic))
                    .compose(producer -> send(producer, 0, count))
                    .eventually(client::close))
        .onSuccess(sent -> System.out.println("acknowledged " + sent))
        .onFailure(
            failure -> {
              System.err.println(failure);
              System.exit(1);
            });
  }

  /** A thousand at a time, so that memory is bounded however many there are. */
  private static Future<Integer> send(Producer producer, int from, int count) {
    if (from == count) {
      return Future.succeededFuture(count);
    }
    int to = Math.min(count, from + CHUNK_MESSAGES);
    List<Future<Producer.Position>> sent = new ArrayList<>();
    for (int i = from; i < to; i++) {
      // Messages of one key stay in one shard, and there in the order of their sending.
      sent.add(producer.send("customer-" + i % 10, ("order " + i).getBytes(UTF_8)));
    }
    return Future.all(sent).compose(all -> send(producer, to, count));
  }
}
