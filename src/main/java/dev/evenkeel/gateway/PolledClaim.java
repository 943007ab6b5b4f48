package dev.evenkeel.gateway;

import dev.evenkeel.client.internal.member.ServiceClaim;
import dev.evenkeel.dedup.Answer;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;

/**
 * A claim for a caller that asks over the API what becomes of it. Without a request for some time
 * it expires, and its key is given back. Runs on one context.
 */
final class PolledClaim implements OwnedByGateway.Owned {
  private final Vertx vertx;
  private final ServiceClaim claim;
  private final String dedup;
  private final Expiry expiry;
  private final Runnable onEnd;

  /** Requests that wait for its turn. */
  private final Set<Promise<Void>> waiting = new HashSet<>();

  /**
   * @param dedup name of its dedup
   * @param user whose it is, or null
   * @param onEnd runs once, when it has ended
   */
  PolledClaim(
      Vertx vertx,
      ServiceClaim claim,
      String dedup,
      String user,
      int expiresMillis,
      Runnable onEnd) {
    this.vertx = vertx;
    Context context = vertx.getOrCreateContext();
    this.claim = claim;
    this.dedup = dedup;
    this.onEnd = onEnd;
    expiry = new Expiry(vertx, "claim", user, expiresMillis, this::expire);
    // Once: many requests may wait for one turn, one after another.
    claim.turn().whenComplete((answer, failure) -> context.runOnContext(none -> turned()));
  }

  private void turned() {
    List.copyOf(waiting).forEach(Promise::tryComplete);
  }

  private void expire() {
    end(expiry.timeout());
    claim.giveBack();
  }

  String dedup() {
    return dedup;
  }

  int expiresMillis() {
    return expiry.millis();
  }

  /** Refuses a caller who is not the one who made it, and counts as a sign of life. */
  void use(String caller) {
    expiry.use(caller);
  }

  /**
   * Waits for its turn: completes with its state then, or when the time is over. A claim that was
   * declined has ended.
   */
  Future<String> await(long waitMillis) {
    if (waitMillis == 0 || claim.turn().isDone()) {
      return state();
    }
    Promise<Void> waited = Promise.promise();
    waiting.add(waited);
    long timer = vertx.setTimer(waitMillis, fired -> waited.tryComplete());
    expiry.waits();
    return waited
        .future()
        .transform(
            done -> {
              waiting.remove(waited);
              vertx.cancelTimer(timer);
              expiry.answered();
              return state();
            });
  }

  private Future<String> state() {
    if (!claim.turn().isDone()) {
      return Future.succeededFuture("waiting");
    }
    Answer answer;
    try {
      answer = claim.turn().join();
    } catch (CompletionException e) {
      RefusedException why = RefusedException.of(e.getCause());
      end(why);
      return Future.failedFuture(why);
    }
    if (answer == Answer.DECLINE) {
      end(Refusal.UNKNOWN_SESSION.error("the claim was declined"));
      return Future.succeededFuture("declined");
    }
    return Future.succeededFuture(claim.isHeld() ? "working" : "lost");
  }

  /** Gives the key back. Completes with whether it was held until then; null if nobody knows. */
  Future<Boolean> giveBack() {
    end(Refusal.UNKNOWN_SESSION.error("the claim was given back"));
    return claim
        .giveBack()
        .recover(
            failure ->
                RefusedException.of(failure).refusal() == Refusal.INDETERMINATE
                    ? Future.succeededFuture(null)
                    : Future.failedFuture(failure));
  }

  @Override
  public Future<Void> close() {
    return giveBack().mapEmpty();
  }

  private void end(RefusedException why) {
    if (expiry.end(why)) {
      onEnd.run();
    }
  }
}
