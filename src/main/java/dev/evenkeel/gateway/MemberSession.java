package dev.evenkeel.gateway;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Vertx;

/**
 * A member of a group on behalf of a program without the client library. It leaves the group when
 * it is closed, and when it has seen no sign of life for some time. Runs on one context.
 */
abstract class MemberSession implements OwnedByGateway.Owned {
  final Vertx vertx;
  final Expiry expiry;
  private final ConsumerOptions options;
  private final Runnable onEnd;

  /**
   * @param user who opened it; null: nobody is asked for
   * @param expiresMillis how long it stays after the last sign of life
   * @param onEnd runs once, when it has ended
   */
  MemberSession(
      Vertx vertx, ConsumerOptions options, String user, int expiresMillis, Runnable onEnd) {
    this.vertx = vertx;
    this.options = options;
    this.onEnd = onEnd;
    expiry = new Expiry(vertx, "session", user, expiresMillis, this::expire);
  }

  /** Name of the member. */
  abstract String member();

  ConsumerOptions options() {
    return options;
  }

  int expiresMillis() {
    return expiry.millis();
  }

  /** Refuses a caller who is not the one who opened it, and counts as a sign of life. */
  void use(String caller) {
    expiry.use(caller);
  }

  /** The time without a sign of life is over: calls {@link #end}, and leaves the group. */
  abstract void expire();

  /** It has ended; further callers learn why. Does nothing if it had before. */
  final void end(RefusedException why) {
    if (expiry.end(why)) {
      afterEnd(why);
      onEnd.run();
    }
  }

  /** Called once, when it has ended. */
  abstract void afterEnd(RefusedException why);
}
