package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Unchecked;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** What programs have in common that are one consumer and report to a file shared with others. */
final class ConsumerProcess {
  private static final long SECONDS_MAX = 60;

  private ConsumerProcess() {}

  /**
   * Consumes until SIGTERM, which makes it leave the group, or until the consumer ends by itself.
   * Prints {@code joined} once it consumes.
   */
  static void run(String nodes, ConsumerOptions options, Function<Vertx, ConsumerHandler> handler)
      throws InterruptedException {
    CountDownLatch stop = new CountDownLatch(1);
    CountDownLatch left = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stopAndAwait(stop, left)));
    var client = await(Evenkeel.connect(TestUsers.options().setSeeds(List.of(nodes.split(",")))));
    await(client.consumer(options, handler.apply(client.vertx())))
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

  private static void stopAndAwait(CountDownLatch stop, CountDownLatch left) {
    stop.countDown();
    try {
      boolean inTime = left.await(SECONDS_MAX, TimeUnit.SECONDS);
      Runtime.getRuntime().halt(inTime ? 0 : 1);
    } catch (InterruptedException e) {
      Runtime.getRuntime().halt(1);
    }
  }

  /** Does something after a while, and is then done. */
  static Future<Void> after(Vertx vertx, long millis, Runnable action) {
    Promise<Void> done = Promise.promise();
    vertx.setTimer(
        millis,
        timer -> {
          action.run();
          done.complete();
        });
    return done.future();
  }

  /** Opens a file so that each write goes to its end. */
  static FileChannel appending(String name) throws IOException {
    return FileChannel.open(
        Path.of(name),
        StandardOpenOption.CREATE,
        StandardOpenOption.WRITE,
        StandardOpenOption.APPEND);
  }

  /** Appends a line by one write. */
  static void append(FileChannel file, String line) {
    byte[] bytes = (line + "\n").getBytes(StandardCharsets.US_ASCII);
    Unchecked.run(() -> file.write(ByteBuffer.wrap(bytes)));
  }
}
