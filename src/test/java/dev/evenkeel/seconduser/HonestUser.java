package dev.evenkeel.seconduser;

import static dev.evenkeel.Futures.await;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A user who does all the time what programs do: it sends, consumes, joins and leaves groups, and
 * asks over HTTP. It takes down how long each operation takes, and what fails. An operation counts
 * where it begins.
 */
final class HonestUser implements AutoCloseable {
  private static final String TOPIC = "honest";

  /** One operation. */
  @FunctionalInterface
  interface Operation {
    void run() throws Exception;
  }

  private final ClientOptions options;
  private final EvenkeelClient client;
  private volatile Producer unnamed;
  private final Producer named;
  private final HonestHttp http;
  private final AtomicReference<Figures> figures = new AtomicReference<>(new Figures());
  private final Map<String, CompletableFuture<Void>> consumed = new ConcurrentHashMap<>();
  private final List<Thread> threads = new ArrayList<>();
  private final long patienceMillis;
  private volatile boolean closing;
  private long sent;

  /**
   * @param options of user shop
   * @param patienceMillis what takes longer has failed
   */
  HonestUser(ClientOptions options, HonestHttp http, long patienceMillis) {
    this.options = options;
    this.http = http;
    this.patienceMillis = patienceMillis;
    client = await(Evenkeel.connect(options));
    unnamed = await(client.producer(new ProducerOptions().setTopic(TOPIC)));
    named = await(client.producer(new ProducerOptions().setTopic(TOPIC).setName("shop")));
    await(
        client.consumer(
            new ConsumerOptions().setGroup("shop").setTopics(List.of(TOPIC)).setMember("shop"),
            delivery -> {
              CompletableFuture<Void> waits = consumed.get(delivery.message().payloadText());
              if (waits != null) {
                waits.complete(null);
              }
              return Future.succeededFuture();
            }));
  }

  void start() {
    repeat("send", 5, this::send);
    repeat("send by name", 10, () -> await(named.send("k", new byte[100])));
    repeat("consume", 10, this::consume);
    repeat("join", 200, this::join);
    repeat("new producer", 500, this::newProducer);
    repeat("connect", 500, () -> await(await(Evenkeel.connect(options)).close()));
    repeat("list groups", 50, () -> await(client.admin().groups()));
    repeat("look by key", 20, http::look);
    repeat("groups over http", 50, http::groups);
    repeat("send over http", 50, http::send);
    repeat("probe", 100, () -> http.probe("/health/live"));
    repeat("probe ready", 200, () -> http.probe("/health/ready"));
    repeat("http session", 100, http::consume);
    repeat("log in", 100, http::logIn);
    repeat("live view", 0, http::nextFrame);
  }

  private void send() {
    try {
      await(unnamed.send("k" + sent++ % 50, new byte[100]));
    } catch (RefusedException e) {
      if (e.refusal() == Refusal.PRODUCER_FENCED) {
        unnamed = await(client.producer(new ProducerOptions().setTopic(TOPIC)));
      }
      throw e;
    }
  }

  private void repeat(String name, long pauseMillis, Operation operation) {
    Thread thread =
        new Thread(
            () -> {
              while (!closing) {
                measure(name, operation);
                pause(pauseMillis);
              }
            },
            "honest: " + name);
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  private void measure(String name, Operation operation) {
    Figures now = figures.get();
    long began = System.nanoTime();
    try {
      operation.run();
      long nanos = System.nanoTime() - began;
      if (nanos > TimeUnit.MILLISECONDS.toNanos(patienceMillis)) {
        now.failed(name, new AssertionError("it took " + nanos / 1_000_000 + " ms"));
      } else if (!closing) {
        now.succeeded(name, nanos);
      }
    } catch (Exception | AssertionError e) {
      if (!closing) {
        now.failed(name, e);
        pause(100);
      }
    }
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private long consumes;

  /** From the sending of a message until a member of the group gets it. */
  private void consume() throws Exception {
    String payload = "consume-" + consumes++;
    CompletableFuture<Void> got = new CompletableFuture<>();
    consumed.put(payload, got);
    try {
      await(unnamed.send("k" + consumes % 50, payload.getBytes(StandardCharsets.UTF_8)));
      got.get(patienceMillis, TimeUnit.MILLISECONDS);
    } finally {
      consumed.remove(payload);
    }
  }

  private int joins;

  /** Joins a group, waits for its shards, and leaves. */
  private void join() throws Exception {
    CompletableFuture<Void> owns = new CompletableFuture<>();
    Consumer consumer =
        await(
            client.consumer(
                new ConsumerOptions()
                    .setGroup("shop-visitors")
                    .setTopics(List.of("looks"))
                    .setStart(StartAt.LATEST)
                    .setMember("visitor" + joins++ % 3),
                delivery -> Future.succeededFuture()));
    consumer.onAssignment(
        shards -> {
          if (shards > 0) {
            owns.complete(null);
          }
        });
    if (consumer.ownedShards() > 0) {
      owns.complete(null);
    }
    try {
      owns.get(patienceMillis, TimeUnit.MILLISECONDS);
    } finally {
      await(consumer.close());
    }
  }

  private void newProducer() {
    Producer producer = await(client.producer(new ProducerOptions().setTopic(TOPIC)));
    await(producer.send("k", new byte[10]));
    await(producer.close());
  }

  /** The id of its session, which whoever sees its group sees, too. */
  String session() {
    return await(client.admin().group("shop")).members().stream()
        .map(member -> member.node())
        .findFirst()
        .orElse(null);
  }

  /** Ends a period. Operations that have begun in it may still be added to its figures. */
  Figures next() {
    return figures.getAndSet(new Figures());
  }

  @Override
  public void close() throws Exception {
    closing = true;
    for (Thread each : threads) {
      each.interrupt();
      each.join(5_000);
    }
    http.close();
    await(client.close());
  }
}
