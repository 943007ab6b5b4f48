package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Table;
import dev.evenkeel.settings.ByteSizes;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** {@code evenkeel bench flat}. */
@Command(
    name = "flat",
    description = {
      "Measures whether sending stays as fast while more and more messages are kept.",
      "It sends --bytes of payload, and reports the rate of each --part. A group reads all the"
          + " time. A part is over when all of its messages are acknowledged."
    },
    footer = {
      "  evenkeel bench flat --size 1KiB --data /var/tmp",
      "  evenkeel bench flat --bytes 50GiB --part 5GiB --consumers 3 --nodes 3 --data /var/tmp",
      "",
      "Each node needs room for all messages on its disk. 'OF THE FIRST' is the rate of a part,",
      "divided by that of the first part; 'UNREAD' is how far the group is behind at its end."
    })
final class FlatBench extends Benchmark {
  private final Supplier<Integer> producers = options.producers();
  private final Supplier<Integer> consumers = options.consumers();

  private final Supplier<Long> bytes =
      options.flags.size("--bytes", "20GiB", "Payload to send after the warm-up");

  private final Supplier<Long> part =
      options.flags.size("--part", "1GiB", "Payload for which one rate is measured");

  private final Supplier<Long> warmupMillis = options.warmup("10s");

  @Override
  void check() {
    CommandFailure.refuseIf(
        part.get() < Math.max(1, options.sizeBytes()) || bytes.get() / part.get() < 2,
        "--part %s: it must hold a message, and --bytes %s at least two parts"
            .formatted(ByteSizes.format(part.get()), ByteSizes.format(bytes.get())));
  }

  @Override
  int measure(Target target) throws InterruptedException {
    String topic = newTopic(target);
    AtomicLong received = new AtomicLong();
    List<Target.Receiver> receivers =
        receivers(
            target,
            topic,
            topic + "-group",
            consumers.get(),
            payload -> received.incrementAndGet());
    List<Target.Sender> senders = senders(target, topic, producers.get());
    ProduceLoad load = new ProduceLoad(senders, payloads(), options.inFlightMessages());
    long acked = answered(load.run(Amount.millis(warmupMillis.get()))).acked();
    JsonArray parts = new JsonArray();
    for (int i = 0; i < bytes.get() / part.get(); i++) {
      DiskWrites before = target.diskWrites(topic, null);
      ProduceLoad.Outcome outcome =
          answered(load.run(Amount.messages(part.get() / Math.max(1, options.sizeBytes()))));
      acked += outcome.acked();
      double first = i == 0 ? outcome.perSecond() : parts.getJsonObject(0).getLong(RATE);
      parts.add(
          new JsonObject()
              .put("part", i + 1)
              .put(RATE, Math.round(outcome.perSecond()))
              .put("ofFirst", Stats.rounded(outcome.perSecond() / first))
              .put("writtenRatio", target.diskWrites(topic, null).since(before).worstRatio())
              .put("unread", Math.max(0, acked - received.get())));
    }
    senders.forEach(Target.Sender::close);
    receivers.forEach(Target.Receiver::close);
    JsonObject last = parts.getJsonObject(parts.size() - 1);
    options.print(
        Table.of(
                "PART part, MESSAGES/S messagesPerSecond, OF THE FIRST ofFirst,"
                    + " WRITTEN writtenRatio, UNREAD unread",
                parts)
            .text(),
        result(target)
            .put("producers", producers.get())
            .put("consumers", consumers.get())
            .put("partBytes", part.get())
            .put("parts", parts)
            .put("lastOfFirst", last.getDouble("ofFirst"))
            .put("unread", last.getLong("unread")));
    return ExitStatus.DONE;
  }
}
