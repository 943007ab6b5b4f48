package dev.evenkeel.functional;

import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.Evenkeel;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.consumer.ConsumerHandler;
import dev.evenkeel.consumer.ConsumerOptions;
import dev.evenkeel.consumer.ContextHandler;
import dev.evenkeel.consumer.Delivery;
import dev.evenkeel.consumer.MessageContext;
import dev.evenkeel.consumer.ShardContext;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A consumer of numbers, in a process of its own, which is meant to be killed: {@code
 * DeliveryMember HOST:PORT TOPIC GROUP MEMBER POLICY OUT FILE}. It appends a line to FILE when a
 * handler begins. With effectively-once it adds the numbers of each shard up, keeps the sum as the
 * shard's state, and publishes offset, number and sum to topic OUT.
 */
public final class DeliveryMember {
  private static final long SECONDS_MAX = 60;

  private DeliveryMember() {}

  public static void main(String[] args) throws Exception {
    ConsumerOptions.DeliveryPolicy delivery = ConsumerOptions.DeliveryPolicy.valueOf(args[4]);
    ConsumerOptions options =
        new ConsumerOptions()
            .setTopics(List.of(args[1]))
            .setGroup(args[2])
            .setMember(args[3])
            .setCommitMillis(300)
            .setDelivery(delivery);
    FileChannel file = DedupMember.appending(args[6]);
    EvenkeelClient client =
        await(Evenkeel.connect(new ClientOptions().setSeeds(List.of(args[0].split(",")))));
    Vertx vertx = client.link().vertx();
    ConsumerHandler handler =
        delivery == ConsumerOptions.DeliveryPolicy.EFFECTIVELY_ONCE
            ? new Adder(vertx, args[5], file)
            : message -> {
              append(file, message);
              return pause(vertx, message);
            };
    await(client.consumer(options, handler)).onEnd(why -> System.err.println("ended: " + why));
    System.out.println("joined");
    Thread.sleep(Long.MAX_VALUE);
  }

  private static void append(FileChannel file, Delivery delivery) {
    DedupMember.append(file, String.valueOf(delivery.shard()), "" + delivery.offset(), "x");
  }

  /** Some handlers end later, so that a kill finds them at work. */
  private static Future<Void> pause(Vertx vertx, Delivery delivery) {
    return delivery.offset() % 2 == 0 ? vertx.timer(3).mapEmpty() : Future.succeededFuture();
  }

  private static final class Adder implements ContextHandler {
    private final Vertx vertx;
    private final String out;
    private final FileChannel file;
    private final Map<Integer, Long> sums = new HashMap<>();

    Adder(Vertx vertx, String out, FileChannel file) {
      this.vertx = vertx;
      this.out = out;
      this.file = file;
    }

    @Override
    public Future<Void> onAssign(ShardContext shard, Buffer state) {
      sums.put(shard.shard(), state == null ? 0 : Long.parseLong(state.toString()));
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> handle(Delivery delivery, MessageContext context) {
      append(file, delivery);
      String number = new String(delivery.message().payload(), StandardCharsets.US_ASCII);
      long sum = sums.merge(delivery.shard(), Long.parseLong(number), Long::sum);
      context.publish(out, null, Buffer.buffer(delivery.offset() + " " + number + " " + sum));
      context.commit(Buffer.buffer(Long.toString(sum)));
      return pause(vertx, delivery);
    }
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(SECONDS_MAX, TimeUnit.SECONDS);
  }
}
