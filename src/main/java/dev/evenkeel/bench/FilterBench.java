package dev.evenkeel.bench;

import dev.evenkeel.cli.ClientConnection;
import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Table;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.internal.EvenkeelClientImpl;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** {@code evenkeel bench filter}. */
@Command(
    name = "filter",
    description = {
      "Measures whether consumers with filters slow down one without.",
      "Each round sends --messages twice while a group reads them: alone, and beside --readers"
          + " consumers, each of which wants one key. It compares how many messages a second reach"
          + " the group."
    },
    footer = {
      "  evenkeel bench filter --shards 2",
      "  evenkeel bench filter --shards 2 --readers 1000 --keys 1000000 --rounds 5",
      "",
      "'OF ALONE' is the rate beside the readers, divided by that of the same round without them.",
      "A node lets 100,000 fetches wait: one for each reader and shard that it leads."
    })
final class FilterBench extends Benchmark {
  private static final int KEYS_DEFAULT = 1_000_000;
  private static final long MINUTES_MAX = 5;
  private static final long LOOK_EVERY_MILLIS = 1;
  private static final long SETTLE_MILLIS = 3_000;

  /** Requests of readers that have gone end by then. */
  private static final long GONE_MILLIS = 16_000;

  private final Supplier<Integer> readers =
      options.flags.integer(
          "--readers", "10000", 1, 100_000, "Consumers that each want the messages of one key");

  private final Supplier<Long> messages =
      options.flags.number("--messages", "2000000", 1, 10_000_000_000L, "Messages of each half");

  private final Supplier<Integer> rounds =
      options.flags.integer("--rounds", "3", 1, 100, "How many pairs to measure");

  private record Half(double perSecond, long found, long answers) {}

  @Override
  int measure(Target opened) throws InterruptedException {
    EvenkeelTarget target = evenkeel(opened);
    int keys = options.keys.get() == 0 ? KEYS_DEFAULT : options.keys.get();
    Payloads payloads = new Payloads(options.sizeBytes(), keys, 1);
    // As warm-ups: the node must not compile while it is measured.
    half(target, payloads, 0);
    half(target, payloads, readers.get());
    JsonArray parts = new JsonArray();
    for (int round = 1; round <= rounds.get(); round++) {
      boolean aloneFirst = round % 2 == 1;
      Half first = half(target, payloads, aloneFirst ? 0 : readers.get());
      Half second = half(target, payloads, aloneFirst ? readers.get() : 0);
      Half alone = aloneFirst ? first : second;
      Half beside = aloneFirst ? second : first;
      parts.add(
          new JsonObject()
              .put("round", round)
              .put("alone", Math.round(alone.perSecond))
              .put("beside", Math.round(beside.perSecond))
              .put("ofAlone", Stats.rounded(beside.perSecond / alone.perSecond))
              .put("found", beside.found)
              .put("answers", beside.answers));
    }
    List<Double> ratios =
        parts.stream().map(part -> ((JsonObject) part).getDouble("ofAlone")).sorted().toList();
    options.print(
        Table.of(
                "ROUND round, MESSAGES/S ALONE alone, BESIDE READERS beside, OF ALONE ofAlone,"
                    + " FOUND found, ANSWERS answers",
                parts)
            .text(),
        result(target)
            .put("readers", readers.get())
            .put("keys", keys)
            .put("messages", messages.get())
            .put("rounds", parts)
            .put("ofAloneMedian", ratios.get(ratios.size() / 2)));
    return ExitStatus.DONE;
  }

  private Half half(EvenkeelTarget target, Payloads payloads, int count)
      throws InterruptedException {
    String topic = newTopic(target);
    LongAdder received = new LongAdder();
    List<Target.Receiver> receivers =
        receivers(target, topic, topic + "-group", 1, payload -> received.increment());
    EvenkeelClient client = ClientConnection.connect(target.connection());
    try (FilterReaders filtered =
        new FilterReaders(EvenkeelClientImpl.linkOf(client), topic, count)) {
      TimeUnit.MILLISECONDS.sleep(SETTLE_MILLIS);
      long begin = System.nanoTime();
      send(senders(target, topic, 1), payloads, Amount.messages(messages.get()));
      while (received.sum() < messages.get()) {
        if (System.nanoTime() - begin > TimeUnit.MINUTES.toNanos(MINUTES_MAX)) {
          throw CommandFailure.failed(
              "only %s of %s messages came within %s min"
                  .formatted(received, messages.get(), MINUTES_MAX));
        }
        TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
      }
      double seconds = (System.nanoTime() - begin) / 1e9;
      if (filtered.failures() > 0) {
        complain(
            filtered.failures()
                + " requests of readers failed, and were repeated: "
                + filtered.lastFailure().getMessage());
      }
      return new Half(messages.get() / seconds, filtered.messages(), filtered.answers());
    } finally {
      receivers.forEach(Target.Receiver::close);
      ClientConnection.close(client);
      if (count > 0) {
        TimeUnit.MILLISECONDS.sleep(GONE_MILLIS);
      }
    }
  }
}
