package dev.evenkeel.level;

import io.vertx.core.Future;
import org.jspecify.annotations.Nullable;

/**
 * One walker's place among the others of its {@link Coordinator}.
 *
 * <p>{@link #move} and {@link #ready} are for one thread at a time, as on one Vert.x context;
 * {@link #destroy} and the rest for any. A track that is no more used should be destroyed; one that
 * is forgotten holds the others back until it has been idle for too long.
 */
public final class Track {
  /** What the last answer of {@link Track#move} was. */
  public enum State {
    /** It took a step, or has not been asked yet. */
    RUNNING,
    /** It has to wait for others. */
    WAITING
  }

  /** How often a thread may ask without any news before it lets others run. */
  private static final int PATIENCE = 8;

  private final Coordinator coordinator;
  private final String name;
  private volatile Seat seat;
  private volatile boolean destroyed;
  private volatile State state = State.RUNNING;
  private @Nullable Seat refusedBy;
  private long refusedWord;

  /** How often the same word has refused after the first time. */
  private int refusedAgain;

  Track(Coordinator coordinator, String name, Seat seat) {
    this.coordinator = coordinator;
    this.name = name;
    this.seat = seat;
  }

  /** What it was made with. */
  public String name() {
    return name;
  }

  /** Whether the last move was a step. */
  public State state() {
    return state;
  }

  /** Whether {@link #destroy} was called. */
  public boolean isDestroyed() {
    return destroyed;
  }

  /** Steps granted since it joined or came back. */
  public long steps() {
    return Seat.steps(seat.word());
  }

  /**
   * Takes one step if that leaves it within the range of all others. Never blocks; a thread that
   * asks over and over without any news lets others run first, since it may be their turn.
   *
   * <p>A track that was set aside joins anew, and then takes its first step.
   *
   * @return false if it has to wait; then ask again, or see {@link #ready}
   * @throws IllegalStateException if it was destroyed
   */
  public boolean move() {
    while (true) {
      Seat mine = seat;
      long word = mine.word();
      if (!Seat.isTaken(word)) {
        mine = comeBack();
        word = mine.word();
      }
      if (mine.mayStep(Seat.steps(word))) {
        if (mine.step(word)) {
          if (state != State.RUNNING) {
            state = State.RUNNING;
            refusedBy = null;
          }
          return true;
        }
      } else if (!endsClaim(mine.blocker())) {
        mine.touch();
        if (state != State.WAITING) {
          state = State.WAITING;
        }
        return false;
      }
    }
  }

  /**
   * Whether whoever refused was idle for too long. The clock is read only when the same word has
   * refused before.
   */
  private boolean endsClaim(Seat blocker) {
    long word = blocker.word();
    if (blocker != refusedBy || word != refusedWord) {
      refusedBy = blocker;
      refusedWord = word;
      refusedAgain = 0;
      return false;
    }
    if (++refusedAgain > PATIENCE) {
      // With more threads than processors, the one that holds this back may not be running.
      Thread.yield();
    }
    return coordinator.setAsideIfIdle(blocker);
  }

  /**
   * Completes when a move may succeed: at once if one may now, else as soon as those have stepped,
   * left or been set aside who refuse it. Another track that joins meanwhile may have the move
   * refused after all; then ask again.
   *
   * <p>It completes on the Vert.x context that it was asked for on. Elsewhere it completes on the
   * thread that made room, inside that one's {@link #move}, so handlers must not block. Asked again
   * before it completed, it gives the same future.
   *
   * @return fails with {@link IllegalStateException} if the track is or gets destroyed
   */
  public Future<Void> ready() {
    Seat mine = seat;
    long word = mine.word();
    if (destroyed) {
      return Future.failedFuture(gone());
    }
    if (!Seat.isTaken(word)) {
      return Future.succeededFuture();
    }
    Waiter waiter = mine.waiting();
    if (waiter != null) {
      return waiter.future();
    }
    if (mine.mayStep(Seat.steps(word))) {
      return Future.succeededFuture();
    }
    mine.touch();
    state = State.WAITING;
    waiter = mine.await(Seat.steps(word));
    if (destroyed) {
      waiter.fail(gone());
    }
    return waiter.future();
  }

  /** Ends it for good; others no longer regard it. Does nothing the second time. */
  public void destroy() {
    destroyed = true;
    Seat mine = seat;
    long word = mine.word();
    while (Seat.isTaken(word) && !mine.end(word, Seat.DESTROYED)) {
      word = mine.word();
    }
    Waiter waiter = mine.waiting();
    if (waiter != null) {
      waiter.fail(gone());
    }
  }

  private Seat comeBack() {
    if (destroyed) {
      throw gone();
    }
    Seat fresh = coordinator.join();
    seat = fresh;
    if (destroyed) {
      // It may have ended the former seat only.
      destroy();
      throw gone();
    }
    return fresh;
  }

  private IllegalStateException gone() {
    return new IllegalStateException("track '" + name + "' is destroyed: ask for another one");
  }

  @Override
  public String toString() {
    return "track " + name + " " + state + " after " + steps() + " steps";
  }
}
