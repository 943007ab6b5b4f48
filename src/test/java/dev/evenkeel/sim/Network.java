package dev.evenkeel.sim;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** Carries messages. While there are faults it loses, delays, doubles and so reorders them. */
final class Network {
  private static final RefusedException NO_ANSWER =
      new RefusedException(Refusal.INDETERMINATE, "no answer");

  private final Timeline time;
  private final SplittableRandom random;

  /** Per cent of messages. */
  private final int lostOf;

  private final int lateOf;
  private final int twiceOf;
  private boolean faulty;

  Network(Timeline time, SplittableRandom random, boolean faulty) {
    this.time = time;
    this.random = random;
    this.faulty = faulty;
    lostOf = random.nextInt(12);
    lateOf = random.nextInt(10);
    twiceOf = random.nextInt(10);
  }

  void calm() {
    faulty = false;
  }

  private boolean chance(int percent) {
    return faulty && random.nextInt(100) < percent;
  }

  private long latency() {
    return chance(lateOf) ? random.nextInt(4_000) : 1 + random.nextInt(12);
  }

  private static boolean reachable(Actor actor) {
    return actor == null || !actor.cutOff && !actor.gone;
  }

  /** A message that nobody answers. */
  void message(Actor from, Actor to, String what, Runnable arrival) {
    if (!reachable(from) || chance(lostOf)) {
      time.note(() -> "lost: " + what + " to " + to);
      return;
    }
    Runnable unlessCut =
        () -> {
          if (reachable(to)) {
            arrival.run();
          }
        };
    time.in(latency(), to, what, unlessCut);
    if (chance(twiceOf)) {
      time.in(latency(), to, what, unlessCut);
    }
  }

  /** What the one who is asked does with a question. At most one of the answers counts. */
  interface Server<T> {
    void handle(Answer<T> answer);
  }

  /** The answer to somebody who does not wait for it any more. */
  static <T> Answer<T> nobody() {
    return new Answer<>() {
      @Override
      public void give(T value) {}

      @Override
      public void refuse(RefusedException refused) {}

      @Override
      public void never() {}
    };
  }

  /** Where an answer goes. */
  interface Answer<T> {
    void give(T value);

    void refuse(RefusedException refused);

    /** There will be none. */
    void never();
  }

  /**
   * A question that is answered once: by {@code server}, or INDETERMINATE after the timeout. It may
   * reach the server after that, or twice.
   *
   * @param to who is asked; null: somebody who is never paused
   */
  <T> void call(
      Actor from,
      Actor to,
      String what,
      long timeoutMillis,
      Server<T> server,
      Consumer<T> answered,
      Consumer<RefusedException> refused) {
    Call<T> call = new Call<>(from, to, what, timeoutMillis, answered, refused);
    if (!reachable(from) || !reachable(to) || chance(lostOf)) {
      call.never();
      return;
    }
    Runnable arrival =
        () -> {
          if (!reachable(to)) {
            call.never();
            return;
          }
          try {
            server.handle(call);
          } catch (RefusedException e) {
            call.refuse(e);
          }
        };
    time.in(latency(), to, what, arrival);
    if (chance(twiceOf)) {
      time.in(latency(), to, what, arrival);
    }
    if (to != null) {
      // It may be stopped, or crash before it answers.
      time.in(timeoutMillis, from, null, call::timeout);
    }
  }

  private final class Call<T> implements Answer<T> {
    private final Actor from;
    private final Actor to;
    private final String what;
    private final long timeoutAt;
    private final Consumer<T> answered;
    private final Consumer<RefusedException> refused;
    private boolean over;
    private boolean sent;

    Call(
        Actor from,
        Actor to,
        String what,
        long timeoutMillis,
        Consumer<T> answered,
        Consumer<RefusedException> refused) {
      this.from = from;
      this.to = to;
      this.what = what;
      this.timeoutAt = time.now() + timeoutMillis;
      this.answered = answered;
      this.refused = refused;
    }

    @Override
    public void give(T value) {
      back(() -> answered.accept(value));
    }

    @Override
    public void refuse(RefusedException no) {
      back(() -> refused.accept(no));
    }

    private void back(Runnable tell) {
      if (sent || over) {
        return;
      }
      sent = true;
      if (!reachable(from) || !reachable(to) || chance(lostOf)) {
        timeoutLater();
        return;
      }
      time.in(
          latency(),
          from,
          time.text(() -> "answer to " + what),
          () -> {
            if (!over && (from == null || !from.cutOff)) {
              over = true;
              tell.run();
            } else if (!over) {
              timeout();
            }
          });
    }

    @Override
    public void never() {
      if (!sent) {
        sent = true;
        timeoutLater();
      }
    }

    private void timeoutLater() {
      time.in(Math.max(0, timeoutAt - time.now()), from, null, this::timeout);
    }

    private void timeout() {
      if (!over) {
        over = true;
        refused.accept(NO_ANSWER);
      }
    }
  }
}
