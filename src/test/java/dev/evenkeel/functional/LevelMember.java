package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A consumer in mode level, in a process of its own: {@code LevelMember HOST:PORT,... TOPIC GROUP
 * MEMBER RANGE STRATEGY STALL_MILLIS WORK_MILLIS FILE}. At the end of each handler it appends a
 * line to FILE, which it shares with the others, by one write: see {@link LevelCheck}. SIGTERM ends
 * it in good order.
 */
public final class LevelMember {
  private static final long SECONDS_MAX = 60;

  private final String member;
  private final long workMillis;
  private final FileChannel file;

  private LevelMember(String member, long workMillis, FileChannel file) {
    this.member = member;
    this.workMillis = workMillis;
    this.file = file;
  }

  public static void main(String[] args) throws Exception {
    ConsumerOptions options =
        new ConsumerOptions()
            .setTopics(List.of(args[1]))
            .setGroup(args[2])
            .setMember(args[3])
            .setMode(ConsumerOptions.Mode.LEVEL)
            .setRange(Integer.parseInt(args[4]))
            .setStrategy(ConsumerOptions.Strategy.valueOf(args[5].toUpperCase(Locale.ROOT)))
            .setStallTimeoutMillis(Long.parseLong(args[6]));
    FileChannel file =
        FileChannel.open(
            Path.of(args[8]),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.APPEND);
    LevelMember work = new LevelMember(args[3], Long.parseLong(args[7]), file);
    CountDownLatch stop = new CountDownLatch(1);
    CountDownLatch left = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stopAndAwait(stop, left)));
    EvenkeelClient client =
        await(Evenkeel.connect(new ClientOptions().setSeeds(List.of(args[0].split(",")))));
    Vertx vertx = client.vertx();
    await(client.consumer(options, delivery -> work.handle(vertx, delivery)))
        .onEnd(
            why -> {
              System.err.println("ended: " + why);
              stop.countDown();
            });
    System.out.println("joined");
    stop.await();
    await(client.close());
    left.countDown();
  }

  private Future<Void> handle(Vertx vertx, Delivery delivery) {
    if (workMillis == 0) {
      append(delivery);
      return Future.succeededFuture();
    }
    Promise<Void> done = Promise.promise();
    vertx.setTimer(
        workMillis,
        timer -> {
          append(delivery);
          done.complete();
        });
    return done.future();
  }

  private void append(Delivery delivery) {
    String line = member + " " + delivery.shard() + "/" + delivery.offset() + "\n";
    try {
      file.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.US_ASCII)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void stopAndAwait(CountDownLatch stop, CountDownLatch left) {
    stop.countDown();
    try {
      boolean inTime = left.await(SECONDS_MAX, TimeUnit.SECONDS);
      Runtime.getRuntime().halt(inTime ? 0 : 1);
    } catch (InterruptedException e) {
      Runtime.getRuntime().halt(1);
    }
  }
}
