package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.RefusedException;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/** What goes wrong with shards, told once each and in one line. */
final class Reports {
  private final RandomGenerator random;
  private final Consumer<ConsumerAction> out;

  Reports(RandomGenerator random, Consumer<ConsumerAction> out) {
    this.random = random;
    this.out = out;
  }

  /** How long to wait after a refusal; says once what is wrong if waiting alone may not help. */
  long pause(OwnedShard hold, String what, RefusedException refused) {
    if (refused.refusal().retriable()) {
      return Backoff.soon(random);
    }
    reportOnce(hold, hold + ": " + what + " (" + refused + "), it is tried again", null);
    return Backoff.steps(1);
  }

  private void reportOnce(OwnedShard hold, String text, Throwable cause) {
    if (!text.equals(hold.reported)) {
      hold.reported = text;
      error(text, cause);
    }
  }

  void error(String text, Throwable cause) {
    out.accept(new ConsumerAction.Report(ConsumerAction.Severity.ERROR, text, cause));
  }

  void warn(String text) {
    out.accept(new ConsumerAction.Report(ConsumerAction.Severity.WARN, text, null));
  }

  void info(String text) {
    out.accept(new ConsumerAction.Report(ConsumerAction.Severity.INFO, text, null));
  }
}
