package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.RefusedException;
import org.slf4j.event.Level;

/**
 * What the parts of an owned shard have in common: who gets the answers to their actions, what they
 * share with other shards, and reports, each of which is one line that begins with the shard.
 */
final class ShardScope {
  final OwnedShard owned;
  final Ownership ownership;
  final Environment environment;

  /** The last refusal reported. */
  private String reported;

  ShardScope(OwnedShard owned, Environment environment) {
    this.owned = owned;
    ownership = owned.ownership();
    this.environment = environment;
  }

  /** How long to wait after a refusal; says once what is wrong if waiting alone may not help. */
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

  /** What was wrong is right again. */
  void clear() {
    reported = null;
  }

  void error(String text, Throwable cause) {
    report(Level.ERROR, text, cause);
  }

  void warn(String text) {
    report(Level.WARN, text, null);
  }

  void info(String text) {
    report(Level.INFO, text, null);
  }

  void report(Level level, String text, Throwable cause) {
    environment.report(level, ownership + text, cause);
  }
}
