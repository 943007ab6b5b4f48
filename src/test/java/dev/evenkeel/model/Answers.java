package dev.evenkeel.model;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Waits for what a run has asked. An answer that does not come in time, or a refusal that nobody
 * expects, is a fault.
 */
final class Answers {
  /** Every answer comes within this time, unless another one is promised. */
  private static final Duration ANSWER_MAX = Duration.ofSeconds(35);

  /** What may be answered at any time: try again. */
  private static final Set<Refusal> PASSING =
      EnumSet.of(
          Refusal.UNAVAILABLE, Refusal.NOT_LEADER, Refusal.INDETERMINATE, Refusal.OVERLOADED);

  private final UserModel model;
  private final RunLog log;

  Answers(UserModel model, RunLog log) {
    this.model = model;
    this.log = log;
  }

  /**
   * Waits for the answer; null if it was refused for one of these reasons, or for a passing one.
   * Every other refusal is a fault.
   */
  <T> T ask(String what, Future<T> asked, Refusal... expected) {
    return ask(what, ANSWER_MAX, asked, expected);
  }

  /**
   * @param most the longest time that the answer may take
   */
  <T> T ask(String what, Duration most, Future<T> asked, Refusal... expected) {
    log.add(what);
    return answer(what, most, asked, expected);
  }

  private <T> T answer(String what, Duration most, Future<T> asked, Refusal... expected) {
    try {
      return asked
          .toCompletionStage()
          .toCompletableFuture()
          .get(most.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      log.add("  refused: " + e.getCause());
      if (!passes(e.getCause(), expected)) {
        model.fault(Promise.ANSWERS, what + ": " + e.getCause());
      }
      return null;
    } catch (TimeoutException e) {
      model.fault(Promise.ANSWERS, what + ": no answer within " + most);
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Whether it is a refusal for one of these reasons, or a passing one, or nobody answered. */
  static boolean passes(Throwable why, Refusal... expected) {
    Refusal refusal = RefusedException.of(why).refusal();
    boolean answer = why instanceof RefusedException || why instanceof IOException;
    return answer && (PASSING.contains(refusal) || List.of(expected).contains(refusal));
  }

  /** As {@link #ask}, for what has no result: whether it was done. */
  boolean done(String what, Future<?> asked, Refusal... expected) {
    return done(what, ANSWER_MAX, asked, expected);
  }

  boolean done(String what, Duration most, Future<?> asked, Refusal... expected) {
    return ask(what, most, asked.map(nothing -> true), expected) != null;
  }

  /** As {@link #ask}; only a refusal is in the log. */
  <T> T quietly(String what, Future<T> asked, Refusal... expected) {
    return answer(what, ANSWER_MAX, asked, expected);
  }

  /** Why something was refused; null: it was not. */
  Refusal refusal(Future<?> asked) {
    Refusal[] refusal = new Refusal[1];
    ask(
        "",
        asked
            .map(nothing -> true)
            .otherwise(
                why -> {
                  refusal[0] = RefusedException.of(why).refusal();
                  return true;
                }));
    return refusal[0];
  }

  /** Waits until all are answered, by a passing refusal or one of these, too. */
  boolean all(String what, List<Future<?>> asked, Refusal... expected) {
    return done(what, Future.join(asked.stream().map(each -> answered(each, expected)).toList()));
  }

  private static Future<?> answered(Future<?> asked, Refusal... expected) {
    return asked
        .<Object>map(done -> true)
        .recover(
            why -> passes(why, expected) ? Future.succeededFuture() : Future.failedFuture(why));
  }
}
