package dev.evenkeel.chaos;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.times;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Options;
import dev.evenkeel.TestUsers;
import dev.evenkeel.client.ConnectionState;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.LeaderCareer;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A program that sends messages and consumes them in three groups: {@code ChaosClient SEEDS NAME
 * RUN RATE EVENTS}. It writes each {@link Event} to the file EVENTS at once, so that nothing of it
 * is lost when it is killed.
 *
 * <p>On its standard input {@code finish} ends the sending, {@code send N} sends so many more, and
 * {@code leave} ends the program in good order, or at once if it has not joined yet. It prints
 * {@code joined}, {@code finished} (once for each end of sending, when it knows what became of
 * all), and {@code ended MEMBER: WHY}.
 */
public final class ChaosClient {
  static final String TOPIC = "load";
  static final String SHARDED = "spread";
  static final String SINGLETON = "one";
  static final String LEVEL = "even";
  static final List<String> GROUPS = List.of(SHARDED, SINGLETON, LEVEL);
  static final int RANGE = 50;
  static final long STALL_MILLIS = 5_000;
  private static final int KEYS = 20;
  private static final int TICK_MILLIS = 10;
  private static final int PENDING_MESSAGES_MAX = 4_000;

  private final String name;
  private final String run;
  private final int rate;
  private final FileChannel events;
  private final int[] next = new int[KEYS];
  private final CompletableFuture<Void> joined = new CompletableFuture<>();
  private Vertx vertx;

  /** Of all that sends. */
  private Context context;

  private EvenkeelClient client;
  private Producer producer;

  /** Since {@link #begunNanos}, and since the beginning. */
  private long sent;

  private long all;
  private long begunNanos;
  private boolean sending;

  private ChaosClient(String name, String run, int rate, FileChannel events) {
    this.name = name;
    this.run = run;
    this.rate = rate;
    this.events = events;
  }

  public static void main(String[] args) throws Exception {
    FileChannel events =
        FileChannel.open(
            Path.of(args[4]),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.APPEND);
    ChaosClient program = new ChaosClient(args[1], args[2], Integer.parseInt(args[3]), events);
    new Thread(() -> orDie(program::obeyAll), "commands").start();
    orDie(
        () -> {
          program.join(List.of(args[0].split(",")));
          System.out.println("joined");
          return program.joined.complete(null);
        });
  }

  /** A thread that ended would leave a program behind that does half of its work. */
  private static void orDie(Callable<?> task) {
    try {
      task.call();
    } catch (Throwable e) {
      e.printStackTrace();
      Runtime.getRuntime().halt(3);
    }
  }

  private Void obeyAll() throws Exception {
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      obey(line.split(" "));
    }
    // Whoever started it has gone.
    Runtime.getRuntime().halt(1);
    return null;
  }

  private void obey(String[] words) throws Exception {
    switch (words[0]) {
      case "finish" -> joined.thenRun(this::finish);
      case "send" -> {
        int count = Integer.parseInt(words[1]);
        joined.thenRun(() -> context.runOnContext(now -> send(count)));
      }
      case "leave" -> {
        if (joined.isDone()) {
          await(client.close());
        }
        Runtime.getRuntime().halt(0);
      }
      default -> throw new IllegalArgumentException(words[0]);
    }
  }

  private void send(int count) {
    times(count, i -> sendOne());
    finish();
  }

  private void finish() {
    context.runOnContext(
        now -> {
          sending = false;
          producer.flush().onComplete(flushed -> System.out.println("finished"));
        });
  }

  private void join(List<String> seeds) throws Exception {
    client =
        await(
            Evenkeel.connect(
                TestUsers.options().setSeeds(seeds).setConnectTimeoutMillis(1_000_000)));
    vertx = client.vertx();
    context = vertx.getOrCreateContext();
    ProducerOptions sends = new ProducerOptions().setTopic(TOPIC).setDeliveryTimeoutMillis(30_000);
    producer = patiently(() -> client.producer(sends));
    write(new Event.Joins(System.nanoTime(), run));
    client.onState(
        state -> {
          if (state == ConnectionState.LOST) {
            write(new Event.Loses(System.nanoTime(), run));
          }
        });
    watch(patiently(() -> client.consumer(sharded(), this::shardedWork)));
    watch(patiently(() -> client.leader(options(SINGLETON), new Career())));
    watch(patiently(() -> client.consumer(level(), this::levelWork)));
    context.runOnContext(
        now -> {
          sending = true;
          begunNanos = System.nanoTime();
          vertx.setPeriodic(TICK_MILLIS, timer -> tick());
        });
  }

  private void watch(Consumer consumer) {
    consumer.onEnd(why -> System.out.println("ended " + consumer.member() + ": " + why));
  }

  // Sending

  private void tick() {
    long due = (System.nanoTime() - begunNanos) * rate / 1_000_000_000L;
    if (sending && producer.pendingMessages() > PENDING_MESSAGES_MAX) {
      // What could not be sent is not made up for.
      begunNanos = System.nanoTime();
      sent = 0;
    }
    for (; sending && sent < due && producer.pendingMessages() <= PENDING_MESSAGES_MAX; sent++) {
      sendOne();
    }
  }

  private void sendOne() {
    int number = (int) (all++ * 7 % KEYS);
    String key = run + "-k" + number;
    int sequence = next[number]++;
    write(new Event.Sent(System.nanoTime(), key, sequence));
    producer
        .send(key, payload(key, sequence).getBytes(StandardCharsets.US_ASCII))
        .onSuccess(
            at -> write(new Event.Acked(System.nanoTime(), key, sequence, at.shard(), at.offset())))
        .onFailure(
            failure -> {
              write(new Event.Unknown(System.nanoTime(), key, sequence));
              System.out.println("not acknowledged: " + key + " " + sequence + ": " + failure);
            });
  }

  /** Key, sequence, and something that a damaged byte anywhere would belie. */
  static String payload(String key, int sequence) {
    String text = key + " " + sequence;
    return text + " " + Integer.toHexString(text.hashCode()) + " " + "x".repeat(60);
  }

  // Consuming

  private ConsumerOptions options(String group) {
    return Options.member(group, name, TOPIC)
        .setRetryDelaysMillis(List.of(200L, 500L, 1_000L, 2_000L, 5_000L, 10_000L));
  }

  private ConsumerOptions sharded() {
    return options(SHARDED).setOrder(ConsumerOptions.Order.KEY);
  }

  private ConsumerOptions level() {
    return Options.member(LEVEL, name, TOPIC)
        .setMode(ConsumerOptions.Mode.LEVEL)
        .setRange(RANGE)
        .setStallTimeoutMillis(STALL_MILLIS);
  }

  /** Some messages fail at their first attempt. */
  private Future<Void> shardedWork(Delivery message) {
    boolean fails = message.attempt() == 1 && message.offset() % 97 == 0;
    return work(SHARDED, message, 1 + message.offset() % 4, fails);
  }

  private Future<Void> levelWork(Delivery message) {
    return work(LEVEL, message, 1 + message.offset() % 3, false);
  }

  private Future<Void> work(String group, Delivery message, long millis, boolean fails) {
    var place = new Event.Place(group, run, message.shard(), message.offset(), message.epoch());
    String payload = new String(message.message().payload(), StandardCharsets.US_ASCII);
    if (!payload.equals(payload(message.message().keyText(), sequence(payload)))) {
      System.out.println("damaged: " + place + ": " + payload);
    }
    write(new Event.Began(System.nanoTime(), place, message.attempt()));
    return (millis == 0 ? Future.succeededFuture() : vertx.timer(millis))
        .compose(
            done -> {
              write(new Event.Ended(System.nanoTime(), place, !fails));
              return fails ? Future.failedFuture("meant to fail") : Future.succeededFuture();
            });
  }

  static int sequence(String payload) {
    try {
      return Integer.parseInt(payload.split(" ")[1]);
    } catch (RuntimeException e) {
      return -1;
    }
  }

  /** What the leader of the group in mode singleton does. */
  private final class Career implements LeaderCareer {
    @Override
    public Future<Void> inaugurate(LeaderContext context) {
      write(new Event.Inaugurated(System.nanoTime(), SINGLETON, run, context.term()));
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> execute(Delivery message) {
      return work(SINGLETON, message, 0, false);
    }

    @Override
    public Future<Void> handOver(LeaderContext context) {
      return Future.succeededFuture();
    }
  }

  /** One write: lines of a killed program are whole, or missing. */
  private void write(Event event) {
    try {
      events.write(ByteBuffer.wrap((event.line() + "\n").getBytes(StandardCharsets.US_ASCII)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What it takes part in may be cut off for longer than starting waits. */
  private static <T> T patiently(Supplier<Future<T>> start) throws Exception {
    while (true) {
      try {
        return await(start.get());
      } catch (RefusedException refused) {
        if (!refused.refusal().retriable()) {
          throw refused;
        }
        System.out.println("starts again: " + refused);
        Thread.sleep(200);
      }
    }
  }
}
