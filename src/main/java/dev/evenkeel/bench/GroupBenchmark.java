package dev.evenkeel.bench;

import dev.evenkeel.cli.ClientConnection;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Table;
import dev.evenkeel.client.EvenkeelClient;
import io.vertx.core.json.JsonArray;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Groups of equal consumers read topics that were filled before, one group after another. */
abstract class GroupBenchmark extends Benchmark {
  private final Supplier<Integer> producers = options.producers();
  private final Supplier<Integer> consumers;
  private final Supplier<Long> messages;
  private final Supplier<Integer> parallel;

  private final Supplier<Long> workMillis =
      options.flags.time(
          "--work", "1ms", "How long a handler takes, without blocking; 0ms: it does nothing");

  final Supplier<Long> durationMillis =
      options.flags.someTime(
          "--duration",
          "15s",
          "How long each group is measured at most; it may end before the last message");

  final Supplier<Long> warmupMillis;

  /** With the defaults of options. */
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
            "--parallel", parallel, 1, 10_000, "Handlers of a consumer that run at once, at most");
    warmupMillis =
        options.flags.time("--warmup", warmup, "For how long a group of each kind reads first");
  }

  /** Measures all groups; gives what each did. */
  abstract JsonArray runs(EvenkeelTarget target, List<EvenkeelClient> clients)
      throws InterruptedException;

  /** What the groups did, for people. */
  abstract Table table(JsonArray runs);

  @Override
  int measure(Target opened) throws InterruptedException {
    EvenkeelTarget target = evenkeel(opened);
    List<EvenkeelClient> clients = new ArrayList<>();
    JsonArray runs;
    try {
      for (int i = 0; i < consumers.get(); i++) {
        clients.add(ClientConnection.connect(target.seeds()));
      }
      runs = runs(target, clients);
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

  /** A new topic with all messages, and what its groups are measured with. */
  LevelLoad fill(EvenkeelTarget target, List<EvenkeelClient> clients, Payloads payloads)
      throws InterruptedException {
    String topic = newTopic(target);
    send(senders(target, topic, producers.get()), payloads, Amount.messages(messages.get()));
    return new LevelLoad(clients, topic, messages.get(), workMillis.get(), parallel.get());
  }
}
