package dev.evenkeel.bus;

import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;

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

  private final Link link;
  private final Promise<ClusterView> answer = Promise.promise();
  private int asked;
  private int unanswered;

  /** The view of a broker that has not caught up, or null. */
  private ClusterView behind;

  private ViewQuestion(Link link) {
    this.link = link;
  }

  /** Fails like {@link Link#request}, or if the answer is malformed. */
  public static Future<ClusterView> ask(Link link) {
    ViewQuestion question = new ViewQuestion(link);
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
    link.request(Addresses.VIEW, Buffer.buffer(), REQUEST_TIMEOUT_MILLIS)
        .map(body -> ClusterView.fromJson(body.toJsonObject()))
        .onComplete(this::answered);
    link.vertx().setTimer(ANOTHER_AFTER_MILLIS, id -> next());
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
