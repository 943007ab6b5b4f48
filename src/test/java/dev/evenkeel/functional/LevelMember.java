package dev.evenkeel.functional;

import dev.evenkeel.Options;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.channels.FileChannel;
import java.util.Locale;

/**
 * A consumer in mode level, in a process of its own: {@code LevelMember HOST:PORT,... TOPIC GROUP
 * MEMBER RANGE STRATEGY STALL_MILLIS WORK_MILLIS FILE}. At the end of each handler it appends a
 * line to FILE, which it shares with the others, by one write: see {@link LevelCheck}. SIGTERM ends
 * it in good order.
 */
public record LevelMember(String member, long workMillis, FileChannel file) {
  public static void main(String[] args) throws Exception {
    ConsumerOptions options =
        Options.member(args[2], args[3], args[1])
            .setMode(ConsumerOptions.Mode.LEVEL)
            .setRange(Integer.parseInt(args[4]))
            .setStrategy(ConsumerOptions.Strategy.valueOf(args[5].toUpperCase(Locale.ROOT)))
            .setStallTimeoutMillis(Long.parseLong(args[6]));
    LevelMember work =
        new LevelMember(args[3], Long.parseLong(args[7]), ConsumerProcess.appending(args[8]));
    ConsumerProcess.run(args[0], options, vertx -> delivery -> work.handle(vertx, delivery));
  }

  private Future<Void> handle(Vertx vertx, Delivery delivery) {
    if (workMillis == 0) {
      append(delivery);
      return Future.succeededFuture();
    }
    return ConsumerProcess.after(vertx, workMillis, () -> append(delivery));
  }

  private void append(Delivery delivery) {
    ConsumerProcess.append(file, member + " " + delivery.shard() + "/" + delivery.offset());
  }
}
