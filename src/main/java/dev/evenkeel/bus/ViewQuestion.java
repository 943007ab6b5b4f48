package dev.evenkeel.bus;

import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.json.JsonObject;

/**
 * Asks a broker for its view of the cluster. If no answer comes for a moment, it asks another
 * broker too, because a dead one may still be registered; the event bus chooses the brokers in
 * turn. The first answer counts, but the view of a broker that has not caught up counts only if no
 * better one comes.
 */
public final class ViewQuestion {
  private static final long REQUEST_TIMEOUT_MILLIS = 2_000;
  private static final long ANOTHER_AFTER_MILLIS = 250;
  private static final int BROKERS_ASKED_MAX = 4;

  /** Where a view says what the cluster's time was when the node answered. */
  public static final String CLOCK = "clockMillis";

  private final Link link;
  private final DueClock time;

  /** What the asker knows, or null. */
  private final ClusterView known;

  private final Promise<ClusterView> answer = Promise.promise();
  private int asked;
  private int unanswered;

  /** The view of a broker that has not caught up, or null. */
  private ClusterView behind;

  private ViewQuestion(Link link, ClusterView known, DueClock time) {
    this.link = link;
    this.known = known;
    this.time = time;
  }

  /**
   * Fails like {@link Link#request}, or if the answer is malformed.
   *
   * @param known a view that the asker has, of which the brokers need not send all again; null:
   *     none
   */
  public static Future<ClusterView> ask(Link link, ClusterView known) {
    return ask(link, known, new DueClock());
  }

  /**
   * As {@link #ask(Link, ClusterView)}.
   *
   * @param time learns from the answers
   */
  static Future<ClusterView> ask(Link link, ClusterView known, DueClock time) {
    ViewQuestion question = new ViewQuestion(link, known, time);
    question.next();
    return question.answer.future();
  }

  private void next() {
    synchronized (this) {
      if (answer.future().isComplete() || asked == BROKERS_ASKED_MAX) {
        return;
      }
      asked++;
      unanswered++;
    }
    long askedMillis = time.steadyMillis();
    link.request(Addresses.VIEW, ViewSince.question(known), REQUEST_TIMEOUT_MILLIS)
        .map(body -> view(body.toJsonObject(), askedMillis))
        .onComplete(this::answered);
    link.vertx().setTimer(ANOTHER_AFTER_MILLIS, id -> next());
  }

  private ClusterView view(JsonObject answer, long askedMillis) {
    // Nodes of version 0.1 do not say it.
    Long clockMillis = answer.getLong(CLOCK);
    if (clockMillis != null) {
      time.learn(clockMillis, askedMillis);
    }
    return ClusterView.fromJson(answer, known);
  }

  private void answered(AsyncResult<ClusterView> answered) {
    if (answered.succeeded() && answered.result().caughtUp()) {
      answer.tryComplete(answered.result());
      return;
    }
    boolean last;
    ClusterView best;
    synchronized (this) {
      unanswered--;
      behind = answered.succeeded() ? answered.result() : behind;
      best = behind;
      last = unanswered == 0 && (best == null || asked == BROKERS_ASKED_MAX);
    }
    if (!last) {
      next();
    } else if (best == null) {
      answer.tryFail(answered.cause());
    } else {
      answer.tryComplete(best);
    }
  }
}
