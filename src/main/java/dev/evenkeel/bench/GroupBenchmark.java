package dev.evenkeel.bench;

import dev.evenkeel.cli.ClientConnection;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.OptionFormats;
import dev.evenkeel.cli.Table;
import dev.evenkeel.client.EvenkeelClient;
import io.vertx.core.json.JsonArray;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Groups of equal consumers read topics that were filled before, one group after another. */
abstract class GroupBenchmark extends Benchmark {
  @Mixin private BenchOptions.Producers producers;

  @Option(
      names = "--consumers",
      paramLabel = "N",
      description =
          "Members of each group, in this program, each with its own connection (default:"
              + " ${DEFAULT-VALUE}).")
  private int consumers;

  @Option(
      names = "--messages",
      paramLabel = "N",
      description = "Messages in each topic (default: ${DEFAULT-VALUE}).")
  private long messages;

  @Option(
      names = "--work",
      paramLabel = "TIME",
      converter = OptionFormats.Time.class,
      defaultValue = "1ms",
      description =
          "How long a handler takes, without blocking; 0ms: it does nothing (default:"
              + " ${DEFAULT-VALUE}).")
  private long workMillis;

  @Option(
      names = "--parallel",
      paramLabel = "N",
      description = "Handlers of a consumer that run at once, at most (default: ${DEFAULT-VALUE}).")
  private int parallel;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      converter = OptionFormats.SomeTime.class,
      defaultValue = "15s",
      description =
          "How long each group is measured at most; it may end before the last message (default:"
              + " ${DEFAULT-VALUE}).")
  long durationMillis;

  /** With the defaults of options. */
  GroupBenchmark(int consumers, long messages, int parallel) {
    this.consumers = consumers;
    this.messages = messages;
    this.parallel = parallel;
  }

  @Override
  void check() {
    producers.check();
    OptionFormats.range("--consumers", consumers, 1, 100);
    OptionFormats.range("--messages", messages, 1, 1_000_000_000L);
    OptionFormats.range("--parallel", parallel, 1, 10_000);
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
      for (int i = 0; i < consumers; i++) {
        clients.add(ClientConnection.connect(target.seeds()));
      }
      runs = runs(target, clients);
    } finally {
      clients.forEach(ClientConnection::close);
    }
    options.print(
        table(runs).text(),
        result(target)
            .put("consumers", consumers)
            .put("messages", messages)
            .put("workMillis", workMillis)
            .put("parallel", parallel)
            .put("runs", runs));
    return ExitStatus.DONE;
  }

  /** A new topic with all messages, and what its groups are measured with. */
  LevelLoad fill(EvenkeelTarget target, List<EvenkeelClient> clients, Payloads payloads)
      throws InterruptedException {
    String topic = newTopic(target);
    send(senders(target, topic, producers.count), payloads, Amount.messages(messages));
    return new LevelLoad(clients, topic, messages, workMillis, parallel);
  }
}
