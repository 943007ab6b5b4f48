package examples;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.ShardContext;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * Counts the messages of each customer, and hands the counts on with the shard: {@code
 * ConsumeExample HOST:PORT TOPIC GROUP COUNT}. It leaves after COUNT messages.
 */
public final class ConsumeExample {
  private ConsumeExample() {}

  public static void main(String[] args) throws InterruptedException {
    Counts counts = new Counts(Long.parseLong(args[3]));
    Future<EvenkeelClient> connected =
        Evenkeel.connect(new ClientOptions().setSeeds(List.of(args[0])));
    connected
        .compose(
            client ->
                client.consumer(
                    new ConsumerOptions().setGroup(args[2]).setTopics(List.of(args[1])), counts))
        .onSuccess(
            consumer ->
                consumer.onEnd(
                    why -> {
                      // Another member of the same name, or other settings than the group's.
                      System.err.println("ended: " + why);
                      counts.enough.countDown();
                    }))
        .onFailure(
            failure -> {
              System.err.println(failure);
              System.exit(1);
            });
    counts.enough.await();
    // Releases every shard with its state, commits, leaves the group, and disconnects.
    connected
        .compose(EvenkeelClient::close)
        .onComplete(closed -> System.out.println("handled " + counts.handled));
  }

  /** All methods run on the consumer's one context: no locks are needed. */
  static final class Counts implements ConsumerHandler {
    final CountDownLatch enough = new CountDownLatch(1);
    private final long wanted;
    private final Map<Integer, JsonObject> byShard = new HashMap<>();
    private volatile long handled;

    Counts(long wanted) {
      this.wanted = wanted;
    }

    /** The former owner's counts, which stand for exactly the messages before this shard's next. */
    @Override
    public Future<Void> onAssign(ShardContext shard, Buffer state) {
      byShard.put(shard.shard(), state == null ? new JsonObject() : new JsonObject(state));
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> handle(Delivery delivery) {
      JsonObject counts = byShard.get(delivery.shard());
      String customer = delivery.message().keyText();
      counts.put(customer, counts.getLong(customer, 0L) + 1);
      handled++;
      if (handled == wanted) {
        enough.countDown();
      }
      return Future.succeededFuture();
    }

    /** What the next owner gets. */
    @Override
    public Future<Buffer> onRelease(ShardContext shard) {
      JsonObject counts = byShard.remove(shard.shard());
      System.out.println("release " + shard.shard() + " " + counts);
      return Future.succeededFuture(counts.toBuffer());
    }

    /** The shard is another's already, who began at the last release: what we counted is void. */
    @Override
    public void onLost(ShardContext shard) {
      byShard.remove(shard.shard());
    }
  }
}
