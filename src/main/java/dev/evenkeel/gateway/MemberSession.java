package dev.evenkeel.gateway;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;

/**
 * A member of a group on behalf of a program without the client library. It leaves the group when
 * it is closed, and when it has seen no sign of life for some time. Runs on one context.
 */
abstract class MemberSession {
  final Vertx vertx;
  private final ConsumerOptions options;
  private final String user;
  private final int expiresMillis;
  private final Runnable onEnd;
  private long timer = -1;
  private RefusedException ended;

  /**
   * @param user who opened it; null: nobody is asked for
   * @param expiresMillis how long it stays after the last sign of life
   * @param onEnd runs once, when it has ended
   */
  MemberSession(
      Vertx vertx, ConsumerOptions options, String user, int expiresMillis, Runnable onEnd) {
    this.vertx = vertx;
    this.options = options;
    this.user = user;
    this.expiresMillis = expiresMillis;
    this.onEnd = onEnd;
  }

  /** Name of the member. */
  abstract String member();

  ConsumerOptions options() {
    return options;
  }

  int expiresMillis() {
    return expiresMillis;
  }

  /** Refuses a caller who is not the one who opened it, and counts as a sign of life. */
  void use(String caller) {
    if (user != null && !user.equals(caller)) {
      throw Refusal.FORBIDDEN.error("the session belongs to another user");
    }
    if (ended != null) {
      throw ended;
    }
    keep();
  }

  /** There was a sign of life. */
  final void keep() {
    vertx.cancelTimer(timer);
    if (ended == null && !isWaited()) {
      timer = vertx.setTimer(expiresMillis, fired -> expire());
    }
  }

  /** Whether it stays without a sign of life. */
  boolean isWaited() {
    return false;
  }

  /** The time without a sign of life is over: calls {@link #end}, and leaves the group. */
  abstract void expire();

  /** Releases every shard, and leaves the group. */
  abstract Future<Void> close();

  /** It has ended; further callers learn why. Does nothing if it had before. */
  final void end(RefusedException why) {
    if (ended == null) {
      ended = why;
      vertx.cancelTimer(timer);
      afterEnd(why);
      onEnd.run();
    }
  }

  /** Called once, when it has ended. */
  abstract void afterEnd(RefusedException why);
}
