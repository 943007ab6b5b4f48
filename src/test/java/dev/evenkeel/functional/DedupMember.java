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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A consumer with dedup by payload, in a process of its own: {@code DedupMember HOST:PORT TOPIC
 * GROUP MEMBER WORK_MILLIS FILE TIMEOUT_MILLIS}, the last of which is after how much silence it
 * counts as dead. At begin and end of each handler it appends a line to FILE, which it shares with
 * the others, by one write: see {@link DedupCheck}. SIGTERM ends it in good order.
 */
public final class DedupMember {
  private static final long SECONDS_MAX = 60;

  private final String member;
  private final long workMillis;
  private final FileChannel file;

  private DedupMember(String member, long workMillis, FileChannel file) {
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
            .setMemberTimeoutMillis(Long.parseLong(args[6]))
            .setOrder(ConsumerOptions.Order.NONE)
            .setDedup(ConsumerOptions.Dedup.PAYLOAD);
    DedupMember work = new DedupMember(args[3], Long.parseLong(args[4]), appending(args[5]));
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

  /** Opens a file so that each write goes to its end. */
  static FileChannel appending(String name) throws IOException {
    return FileChannel.open(
        Path.of(name),
        StandardOpenOption.CREATE,
        StandardOpenOption.WRITE,
        StandardOpenOption.APPEND);
  }

  static void append(FileChannel file, String what, String key, String member) {
    String line = what + " " + key + " " + member + "\n";
    try {
      file.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.US_ASCII)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Future<Void> handle(Vertx vertx, Delivery delivery) {
    String key = new String(delivery.message().payload(), StandardCharsets.US_ASCII);
    append(file, DedupCheck.START, key, member);
    Promise<Void> done = Promise.promise();
    vertx.setTimer(
        workMillis,
        timer -> {
          append(file, DedupCheck.END, key, member);
          done.complete();
        });
    return done.future();
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
