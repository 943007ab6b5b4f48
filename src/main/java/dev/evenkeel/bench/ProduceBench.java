package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.HttpApi;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** {@code evenkeel bench produce}. */
@Command(
    name = "produce",
    description = {
      "Measures how many messages a second the cluster acknowledges.",
      "Each producer sends from a thread of its own until --in-flight is reached, and goes on"
          + " when answers come. The time is from the first message to the last answer.",
      "It also measures how many bytes each node writes to disk for each byte of batches."
    },
    footer = {
      "  evenkeel bench produce",
      "  evenkeel bench produce --size 1KiB --producers 4 --duration 30s",
      "  evenkeel bench produce --messages 5000000 --format json",
      "  evenkeel bench produce --cluster 10.0.0.1:5701,10.0.0.2:5701"
    })
final class ProduceBench extends Benchmark {
  private final Supplier<Integer> producers = options.producers();

  private final Supplier<Long> messages =
      options.flags.number(
          "--messages",
          null,
          1,
          10_000_000_000L,
          "Send this many messages, instead of for a time.");

  private final Supplier<Long> durationMillis =
      options.flags.someTime("--duration", "10s", "How long to send");

  private final Supplier<Long> warmupMillis = options.warmup("5s");

  private final Supplier<List<String>> http =
      options.flags.texts(
          "--http",
          "URL",
          null,
          "HTTP addresses of all nodes of the running cluster, to see how much they write to"
              + " disk.");

  @Override
  void check() {
    CommandFailure.refuseIf(
        http.get() != null && options.cluster() == null,
        "--http: it names the nodes of a running cluster, see --cluster");
    if (http.get() != null) {
      http.get().forEach(HttpApi::new);
    }
  }

  @Override
  int measure(Target target) throws InterruptedException {
    String topic = newTopic(target);
    List<Target.Sender> senders = senders(target, topic, producers.get());
    ProduceLoad load = new ProduceLoad(senders, payloads(), options.inFlightMessages());
    ProduceLoad.Outcome warm = load.run(Amount.millis(warmupMillis.get()));
    DiskWrites before = target.diskWrites(topic, http.get());
    ProduceLoad.Outcome outcome =
        load.run(
            messages.get() == null
                ? Amount.millis(durationMillis.get())
                : Amount.messages(messages.get()));
    senders.forEach(Target.Sender::close);
    DiskWrites writes = target.diskWrites(topic, http.get()).since(before);
    long stored = target.stored(topic);
    JsonObject result =
        result(target)
            .put("producers", producers.get())
            .put("warmupMessages", warm.sent())
            .put("sent", outcome.sent())
            .put("acked", outcome.acked())
            .put("failed", outcome.failed())
            .put("stored", stored < 0 ? null : stored - warm.acked())
            .put("seconds", Stats.seconds(outcome.nanos()))
            .put("messagesPerSecond", Math.round(outcome.perSecond()))
            .put("mebibytesPerSecond", options.mebibytes(outcome.perSecond()));
    writes.putInto(result);
    print(
        "MESSAGES/S messagesPerSecond, MIB/S mebibytesPerSecond, ACKED acked, SENT sent,"
            + " SECONDS seconds",
        result,
        writes.text() + "\n");
    return status(outcome.sent(), outcome.failed(), outcome.firstFailure());
  }
}
