package dev.evenkeel.functional;

import dev.evenkeel.Options;
import dev.evenkeel.client.BlockingHandler;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import io.vertx.core.Future;
import java.nio.channels.FileChannel;

/**
 * A consumer in a process of its own whose handler sleeps: {@code BlockingMember HOST:PORT TOPIC
 * GROUP MILLIS FILE worker|event-loop}. It appends the shard and the offset of each message to FILE
 * when it has handled it.
 */
public final class BlockingMember {
  private BlockingMember() {}

  public static void main(String[] args) throws Exception {
    System.setProperty("evenkeel.test.log", "WARN");
    ConsumerOptions options =
        Options.member(args[2], "m", args[1]).setOrder(ConsumerOptions.Order.NONE).setParallel(16);
    long millis = Long.parseLong(args[3]);
    FileChannel file = ConsumerProcess.appending(args[4]);
    BlockingHandler blocks =
        delivery -> {
          Thread.sleep(millis);
          ConsumerProcess.append(file, delivery.shard() + " " + delivery.offset());
        };
    ConsumerHandler handler = args[5].equals("worker") ? blocks : new OnTheEventLoop(blocks);
    ConsumerProcess.run(args[0], options, vertx -> handler);
  }

  /** Does what it should not. */
  private record OnTheEventLoop(ConsumerHandler slow) implements ConsumerHandler {
    @Override
    public Future<Void> handle(Delivery delivery) {
      return slow.handle(delivery);
    }
  }
}
