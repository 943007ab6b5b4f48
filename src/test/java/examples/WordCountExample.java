package examples;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.ParentState;
import dev.evenkeel.client.ShardContext;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Counts words in memory, and hands the counts over with each shard: {@code WordCountExample
 * HOST:PORT TOPIC GROUP MEMBER [PADDING]}. It runs until it is told to stop, by Ctrl-C or SIGTERM,
 * and prints the counts of each shard that it gets and lets go.
 */
public final class WordCountExample {
  private WordCountExample() {}

  public static void main(String[] args) throws InterruptedException {
    WordCounts counts = new WordCounts(args.length > 4 ? Integer.parseInt(args[4]) : 0);
    CountDownLatch stop = new CountDownLatch(1);
    CountDownLatch left = new CountDownLatch(1);
    Future<EvenkeelClient> connected =
        Evenkeel.connect(new ClientOptions().setSeeds(List.of(args[0])));
    connected
        .compose(
            client ->
                client.consumer(
                    new ConsumerOptions()
                        .setTopics(List.of(args[1]))
                        .setGroup(args[2])
                        .setMember(args[3]),
                    counts))
        .onSuccess(consumer -> consumer.onEnd(why -> stop.countDown()))
        .onFailure(
            failure -> {
              System.err.println(failure);
              stop.countDown();
            });
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  stop.countDown();
                  awaitAtMostAMinute(left);
                }));
    stop.await();
    // Releases every shard with its counts, and leaves the group.
    connected.compose(EvenkeelClient::close).onComplete(closed -> left.countDown());
  }

  private static void awaitAtMostAMinute(CountDownLatch latch) {
    try {
      if (!latch.await(1, TimeUnit.MINUTES)) {
        System.err.println("could not leave in good order");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** All methods run on the consumer's one context: no locks are needed. */
  static final class WordCounts implements ConsumerHandler {
    private final String padding;
    private final Map<Integer, Map<String, Long>> byShard = new HashMap<>();

    /**
     * @param paddingBytes makes the state larger than the counts need, to see what that costs
     */
    WordCounts(int paddingBytes) {
      padding = "x".repeat(paddingBytes);
    }

    /** The counts of all messages before {@code shard.offset()}: what comes is added to them. */
    @Override
    public Future<Void> onAssign(ShardContext shard, Buffer state) {
      return begin(shard, state == null ? List.of() : List.of(state));
    }

    /** The topic has other shards now: each former one's counts go on in one of these. */
    @Override
    public Future<Void> onAssignFromParents(ShardContext shard, List<ParentState> parents) {
      return begin(
          shard, parents.stream().filter(ParentState::heir).map(ParentState::state).toList());
    }

    private Future<Void> begin(ShardContext shard, List<Buffer> states) {
      Map<String, Long> counts = new HashMap<>();
      for (Buffer state : states) {
        JsonObject words = new JsonObject(state).getJsonObject("words");
        words.forEach(
            word -> counts.merge(word.getKey(), ((Number) word.getValue()).longValue(), Long::sum));
      }
      byShard.put(shard.shard(), counts);
      System.out.println("got " + shard.shard() + " at " + shard.offset());
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> handle(Delivery delivery) {
      Map<String, Long> counts = byShard.get(delivery.shard());
      String text = new String(delivery.message().payload(), StandardCharsets.UTF_8);
      for (String word : text.split("\\s+")) {
        counts.merge(word, 1L, Long::sum);
      }
      return Future.succeededFuture();
    }

    /** The counts of all messages before {@code shard.offset()}, for the next owner. */
    @Override
    public Future<Buffer> onRelease(ShardContext shard) {
      JsonObject words = new JsonObject(new HashMap<>(byShard.remove(shard.shard())));
      System.out.println("gave " + shard.shard() + " at " + shard.offset() + " " + words);
      return Future.succeededFuture(
          new JsonObject().put("words", words).put("padding", padding).toBuffer());
    }

    /** Another owner is at work, and began where the last release was: our counts are void. */
    @Override
    public void onLost(ShardContext shard) {
      byShard.remove(shard.shard());
      System.out.println("lost " + shard.shard());
    }
  }
}
