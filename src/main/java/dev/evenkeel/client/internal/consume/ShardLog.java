package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.Backoff;
import org.slf4j.event.Level;

/** Reports on one owned shard for operators. Each is one line that begins with the shard. */
final class ShardLog {
  private final Ownership ownership;
  private final Environment environment;

  /** The last refusal that was reported, or null. */
  private String reported;

  ShardLog(Ownership ownership, Environment environment) {
    this.ownership = ownership;
    this.environment = environment;
  }

  /**
   * How long to wait after a refusal, in milliseconds. Reports once what is wrong if waiting alone
   * may not help.
   */
  long pause(String what, RefusedException refused) {
    if (refused.refusal().retriable()) {
      return Backoff.soon(environment.random);
    }
    String text = ": " + what + " (" + refused + "), it is tried again";
    if (!text.equals(reported)) {
      reported = text;
      error(text, null);
    }
    return Backoff.steps(1);
  }

  /** A problem that was reported is over: should it come back, it is reported again. */
  void forgetReported() {
    reported = null;
  }

  /** Tells an operator how to skip all messages below {@code next}. */
  String howToSkip(long next) {
    return environment.options.getMode() == Mode.BROADCAST
        ? ""
        : String.format(
            "; to skip it, reset group %s on shard %d of topic %s to offset %d",
            environment.options.getGroup(), ownership.shard().shard(), ownership.topic(), next);
  }

  /**
   * @param cause or null
   */
  void error(String text, Throwable cause) {
    report(Level.ERROR, text, cause);
  }

  void warn(String text) {
    report(Level.WARN, text, null);
  }

  void info(String text) {
    report(Level.INFO, text, null);
  }

  /**
   * @param cause or null
   */
  void report(Level level, String text, Throwable cause) {
    environment.report(level, ownership + text, cause);
  }
}
