package dev.evenkeel.bench;

import dev.evenkeel.cli.ClientConnection;
import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Table;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * A benchmark in which groups of equal consumers read filled topics, one group after another.
 *
 * <p>The consumers run in this program, each with a connection of its own, so their traffic with
 * the dispatcher goes through the network as that of separate applications does. On a machine with
 * few cores, separate processes would mostly measure the warm-up of their JVMs.
 */
abstract class GroupBenchmark extends Benchmark {
  private static final long LOOK_EVERY_MILLIS = 1;
  private static final long JOIN_SECONDS_MAX = 60;

  /** One for each consumer. */
  private final List<EvenkeelClient> clients = new ArrayList<>();

  private final Supplier<Integer> producers = options.producers();
  private final Supplier<Integer> consumers;
  private final Supplier<Long> messages;
  private final Supplier<Integer> parallel;

  private final Supplier<Long> workMillis =
      options.flags.time(
          "--work", "1ms", "How long a handler takes, without blocking; 0ms: no time");

  final Supplier<Long> durationMillis =
      options.flags.someTime(
          "--duration", "15s", "How long to measure each group at most, even if messages are left");

  final Supplier<Long> warmupMillis;

  /** Takes the defaults of the options. */
  GroupBenchmark(String consumers, String messages, String parallel, String warmup) {
    this.consumers =
        options.flags.integer(
            "--consumers",
            consumers,
            1,
            100,
            "Members of each group, in this program, each with its own connection");
    this.messages =
        options.flags.number("--messages", messages, 1, 1_000_000_000L, "Messages in each topic");
    this.parallel =
        options.flags.integer(
            "--parallel", parallel, 1, 10_000, "How many handlers of a consumer may run at once");
    warmupMillis =
        options.flags.time(
            "--warmup", warmup, "How long a group of each kind reads before anything is counted");
  }

  /** Measures all groups; gives one object for each. */
  abstract JsonArray runs(EvenkeelTarget target) throws InterruptedException;

  /** The results as a table. */
  abstract Table table(JsonArray runs);

  @Override
  int measure(Target opened) throws InterruptedException {
    EvenkeelTarget target = evenkeel(opened);
    JsonArray runs;
    try {
      for (int i = 0; i < consumers.get(); i++) {
        clients.add(ClientConnection.connect(target.connection()));
      }
      runs = runs(target);
    } finally {
      clients.forEach(ClientConnection::close);
    }
    options.print(
        table(runs).text(),
        result(target)
            .put("consumers", consumers.get())
            .put("messages", messages.get())
            .put("workMillis", workMillis.get())
            .put("parallel", parallel.get())
            .put("runs", runs));
    return ExitStatus.DONE;
  }

  /** Creates and fills a topic; gives its name. */
  String fill(EvenkeelTarget target, Payloads payloads) throws InterruptedException {
    String topic = newTopic(target);
    send(senders(target, topic, producers.get()), payloads, Amount.messages(messages.get()));
    return topic;
  }

  /**
   * The result of one group.
   *
   * @param finished messages finished while it was measured
   * @param all messages finished, including those while consumers joined
   * @param least the fewest messages that a consumer finished
   * @param most the most messages that a consumer finished
   * @param declined messages that dedup finished without a handler
   */
  record Outcome(long finished, long all, long nanos, long least, long most, long declined) {
    double perSecond() {
      return finished / (nanos / 1e9);
    }

    JsonObject json() {
      return new JsonObject()
          .put("finished", finished)
          .put("seconds", Stats.seconds(nanos))
          .put("messagesPerSecond", Math.round(perSecond()));
    }
  }

  /**
   * Reads a topic with a new group of equal consumers. The measurement begins when each of them has
   * finished a message, so that joining does not count, and ends with the last message or after
   * {@code millisMax}.
   *
   * @param name the end of the group's name
   * @param mode the mode, range, strategy and dedup; this sets the rest
   * @param millisMax how long to measure at most
   */
  Outcome run(String topic, String name, ConsumerOptions mode, long millisMax)
      throws InterruptedException {
    List<AtomicLong> counts = new ArrayList<>();
    AtomicLong declined = new AtomicLong();
    List<Target.Receiver> receivers = new ArrayList<>();
    try {
      for (EvenkeelClient client : clients) {
        AtomicLong count = new AtomicLong();
        counts.add(count);
        ConsumerOptions options =
            new ConsumerOptions(mode.toJson())
                .setGroup(topic + "-" + name)
                .setTopics(List.of(topic))
                .setOrder(ConsumerOptions.Order.NONE)
                .setParallel(parallel.get());
        Worker worker = new Worker(client.vertx(), workMillis.get(), count, declined);
        receivers.add(EvenkeelTarget.receiver(client, options, worker));
      }
      long joining = System.nanoTime();
      while (counts.stream().anyMatch(count -> count.get() == 0)) {
        // A consumer that joins after the last message gets none: there were too few messages.
        if (System.nanoTime() - joining > TimeUnit.SECONDS.toNanos(JOIN_SECONDS_MAX)
            || sum(counts) >= messages.get()) {
          throw CommandFailure.failed("not every consumer got a message: use more with --messages");
        }
        TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
      }
      long begin = System.nanoTime();
      long before = sum(counts);
      long until = begin + TimeUnit.MILLISECONDS.toNanos(millisMax);
      while (sum(counts) < messages.get() && System.nanoTime() - until < 0) {
        TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
      }
      long nanos = System.nanoTime() - begin;
      long all = sum(counts);
      List<Long> each = counts.stream().map(AtomicLong::get).sorted().toList();
      return new Outcome(
          all - before, all, nanos, each.get(0), each.get(each.size() - 1), declined.get());
    } finally {
      receivers.forEach(Target.Receiver::close);
    }
  }

  private static long sum(List<AtomicLong> counts) {
    return counts.stream().mapToLong(AtomicLong::get).sum();
  }

  /** Simulates work with a timer. One thread at a time calls it. */
  private static final class Worker implements ConsumerHandler {
    private static final Future<Void> DONE = Future.succeededFuture();

    private final Vertx vertx;
    private final long workMillis;
    private final AtomicLong count;
    private final AtomicLong declined;

    Worker(Vertx vertx, long workMillis, AtomicLong count, AtomicLong declined) {
      this.vertx = vertx;
      this.workMillis = workMillis;
      this.count = count;
      this.declined = declined;
    }

    @Override
    public Future<Void> handle(Delivery delivery) {
      if (workMillis == 0) {
        count.lazySet(count.get() + 1);
        return DONE;
      }
      Promise<Void> worked = Promise.promise();
      vertx.setTimer(
          workMillis,
          timer -> {
            count.lazySet(count.get() + 1);
            worked.complete();
          });
      return worked.future();
    }

    @Override
    public void onDeclined(Delivery delivery) {
      count.lazySet(count.get() + 1);
      declined.incrementAndGet();
    }
  }
}
