package dev.evenkeel.level;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * Runs a few threads in every order of their accesses to what they share, one at a time: depth
 * first, by running again with another choice. {@code preemptionsMost} bounds how often a thread is
 * stopped that could go on (M. Musuvathi, S. Qadeer, "Iterative context bounding for systematic
 * testing of multithreaded programs", PLDI 2007).
 */
final class Interleavings {
  /** What runs: made anew for each order. */
  record Run(List<Runnable> threads, Runnable atEnd) {}

  private static final ThreadLocal<Lane> LANE = new ThreadLocal<>();

  /**
   * A thread that runs one of the threads of each run. It runs while it has the turn, and chooses
   * itself who has it next, so that nothing is handed over if it goes on.
   */
  private final class Lane {
    final Semaphore turn = new Semaphore(0);
    Runnable what;
    boolean ended;
    Throwable failure;

    void live() {
      LANE.set(this);
      turn.acquireUninterruptibly();
      while (what != null) {
        try {
          what.run();
        } catch (Throwable e) {
          failure = e;
        }
        ended = true;
        handOver();
        turn.acquireUninterruptibly();
      }
    }

    /** If nobody can be chosen, as in a run that cannot be repeated, the run is over. */
    private void handOver() {
      Lane next = null;
      try {
        next = next(this);
      } catch (RuntimeException e) {
        failure = failure == null ? e : failure;
      }
      (next == null ? over : next.turn).release();
    }

    void pause() {
      Lane next = next(this);
      if (next != this) {
        next.turn.release();
        turn.acquireUninterruptibly();
      }
    }
  }

  private final int preemptionsMost;
  private final List<Lane> lanes = new ArrayList<>();
  private final Semaphore over = new Semaphore(0);
  private final List<Integer> chosen = new ArrayList<>();
  private final List<Integer> options = new ArrayList<>();
  private int depth;
  private int preemptions;

  private Interleavings(int preemptionsMost) {
    this.preemptionsMost = preemptionsMost;
  }

  /** The moment before an access to something shared. */
  static void pause() {
    Lane lane = LANE.get();
    if (lane != null) {
      lane.pause();
    }
  }

  /**
   * Runs all orders.
   *
   * @return how many there were
   * @throws AssertionError with the order, if a thread or the end of a run failed
   */
  static int explore(int preemptionsMost, Supplier<Run> runs) {
    Interleavings all = new Interleavings(preemptionsMost);
    int count = 0;
    try {
      do {
        try {
          all.runOnce(runs.get());
        } catch (Throwable e) {
          throw new AssertionError("order " + all.chosen + " of run " + count, e);
        }
        count++;
      } while (all.hasMore());
    } finally {
      all.end();
    }
    return count;
  }

  private boolean hasMore() {
    int last = chosen.size() - 1;
    while (last >= 0 && chosen.get(last) + 1 == options.get(last)) {
      chosen.remove(last);
      options.remove(last);
      last--;
    }
    if (last < 0) {
      return false;
    }
    chosen.set(last, chosen.get(last) + 1);
    return true;
  }

  private int choose(int of) {
    if (of == 1) {
      return 0;
    }
    if (depth == chosen.size()) {
      chosen.add(0);
      options.add(of);
    }
    return chosen.get(depth++);
  }

  private void runOnce(Run run) throws Throwable {
    while (lanes.size() < run.threads().size()) {
      Lane lane = new Lane();
      lanes.add(lane);
      Thread thread = new Thread(lane::live, "lane");
      thread.setDaemon(true);
      thread.start();
    }
    for (int i = 0; i < lanes.size(); i++) {
      Lane lane = lanes.get(i);
      lane.what = run.threads().get(i);
      lane.ended = false;
      lane.failure = null;
    }
    depth = 0;
    preemptions = 0;
    next(null).turn.release();
    over.acquireUninterruptibly();
    for (Lane each : lanes) {
      if (each.failure != null) {
        throw each.failure;
      }
    }
    run.atEnd().run();
  }

  /** Who goes on after {@code current}; null: all have ended. */
  private Lane next(Lane current) {
    List<Lane> able = new ArrayList<>(lanes.size());
    boolean goesOn = current != null && !current.ended;
    if (goesOn) {
      able.add(current);
    }
    if (!goesOn || preemptions < preemptionsMost) {
      for (Lane each : lanes) {
        if (!each.ended && each != current) {
          able.add(each);
        }
      }
    }
    if (able.isEmpty()) {
      return null;
    }
    Lane next = able.get(choose(able.size()));
    if (goesOn && next != current) {
      preemptions++;
    }
    return next;
  }

  private void end() {
    for (Lane each : lanes) {
      each.what = null;
      each.turn.release();
    }
  }
}
