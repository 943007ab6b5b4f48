package dev.evenkeel.gateway;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Vertx;

/**
 * Ends what a caller has opened when no request for it has waited or come for some time: then the
 * caller has died. It also refuses requests of other users. Runs on one context.
 */
final class Expiry {
  private final Vertx vertx;
  private final String word;
  private final String user;
  private final int millis;
  private final Runnable expired;
  private long timer = -1;
  private int waiting;
  private RefusedException ended;

  /**
   * Begins to count.
   *
   * @param word what the caller has opened, such as "session"
   * @param user who opened it; null: nobody is asked for
   * @param millis how long it stays after the end of the last request
   * @param expired runs when that time is over; it should end it
   */
  Expiry(Vertx vertx, String word, String user, int millis, Runnable expired) {
    this.vertx = vertx;
    this.word = word;
    this.user = user;
    this.millis = millis;
    this.expired = expired;
    restart();
  }

  int millis() {
    return millis;
  }

  /**
   * Counts as a sign of life.
   *
   * @throws RefusedException FORBIDDEN if the caller is not the one who opened it; else, why it has
   *     ended, if it has
   */
  void use(String caller) {
    if (user != null && !user.equals(caller)) {
      throw Refusal.FORBIDDEN.error("the %s belongs to another user", word);
    }
    if (ended != null) {
      throw ended;
    }
    restart();
  }

  /** A request waits, so it needs no sign of life before {@link #answered}. */
  void waits() {
    waiting++;
    vertx.cancelTimer(timer);
  }

  /** A request that waited waits no longer. */
  void answered() {
    waiting--;
    keep();
  }

  /** There was a sign of life that is no request. */
  void keep() {
    if (ended == null) {
      restart();
    }
  }

  private void restart() {
    vertx.cancelTimer(timer);
    if (waiting == 0) {
      timer = vertx.setTimer(millis, fired -> expired.run());
    }
  }

  /** The reason for an end after the time without a request. */
  RefusedException timeout() {
    return Refusal.UNKNOWN_SESSION.error(
        "the %s has ended after %d ms without a request", word, millis);
  }

  /**
   * It has ended: nothing is counted any more.
   *
   * @return whether it has ended just now
   */
  boolean end(RefusedException why) {
    if (ended != null) {
      return false;
    }
    ended = why;
    vertx.cancelTimer(timer);
    return true;
  }
}
