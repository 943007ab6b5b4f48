package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What the commands have in common. */
final class BenchRun {
  private static final String TOPIC = "bench-";

  private BenchRun() {}

  static Amount amount(Long messages, String duration) {
    if (messages != null) {
      BenchOptions.range("--messages", messages, 1, 10_000_000_000L);
      return Amount.messages(messages);
    }
    long millis = BenchOptions.millis("--duration", duration);
    if (millis == 0) {
      throw CommandFailure.usage("--duration '" + duration + "': it must be above 0");
    }
    return Amount.millis(millis);
  }

  /** A name that no former run has used, for a running cluster keeps its topics. */
  static String newTopic(Target target, BenchOptions options) {
    String topic = TOPIC + Long.toString(System.currentTimeMillis(), Character.MAX_RADIX);
    target.createTopic(topic, options.shards());
    return topic;
  }

  static List<Target.Sender> senders(Target target, String topic, int count) {
    List<Target.Sender> senders = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      senders.add(target.sender(topic));
    }
    return senders;
  }

  static JsonObject result(String bench, Target target, BenchOptions options) {
    return new JsonObject()
        .put("bench", bench)
        .mergeIn(target.describe())
        .mergeIn(options.describe());
  }

  static int status(ProduceLoad.Outcome outcome) {
    return status(outcome.sent(), outcome.failed(), outcome.firstFailure());
  }

  static int status(long sent, long failed, Throwable first) {
    if (failed == 0) {
      return ExitStatus.DONE;
    }
    System.err.println(
        String.format(
            Locale.ROOT,
            "evenkeel bench: %d of %d messages failed, the first with: %s",
            failed,
            sent,
            first == null ? "no answer" : first));
    return ExitStatus.FAILED;
  }

  /** Three digits behind the point. */
  static double rounded(double value) {
    return Math.round(value * 1_000) / 1_000.0;
  }
}
