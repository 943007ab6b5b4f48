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

  private static final class Lane {
    final Semaphore go = new Semaphore(0);
    final Semaphore back;
    boolean ended;
    Throwable failure;

    Lane(Semaphore back) {
      this.back = back;
    }

    void run(Runnable what) {
      LANE.set(this);
      go.acquireUninterruptibly();
      try {
        what.run();
      } catch (Throwable e) {
        failure = e;
      }
      ended = true;
      back.release();
    }
  }

  private final List<Integer> chosen = new ArrayList<>();
  private final List<Integer> options = new ArrayList<>();
  private int depth;

  private Interleavings() {}

  /** The moment before an access to something shared. */
  static void pause() {
    Lane lane = LANE.get();
    if (lane != null) {
      lane.back.release();
      lane.go.acquireUninterruptibly();
    }
  }

  /**
   * Runs all orders.
   *
   * @return how many there were
   * @throws AssertionError with the order, if a thread or the end of a run failed
   */
  static int explore(int preemptionsMost, Supplier<Run> runs) {
    Interleavings all = new Interleavings();
    int count = 0;
    do {
      all.depth = 0;
      try {
        all.runOnce(preemptionsMost, runs.get());
      } catch (Throwable e) {
        throw new AssertionError("order " + all.chosen + " of run " + count, e);
      }
      count++;
    } while (all.next());
    return count;
  }

  private boolean next() {
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

  private void runOnce(int preemptionsMost, Run run) throws Throwable {
    Semaphore back = new Semaphore(0);
    List<Lane> lanes = new ArrayList<>();
    for (Runnable each : run.threads()) {
      Lane lane = new Lane(back);
      lanes.add(lane);
      Thread thread = new Thread(() -> lane.run(each), "lane");
      thread.setDaemon(true);
      thread.start();
    }
    Lane current = null;
    int preemptions = 0;
    while (true) {
      List<Lane> able = new ArrayList<>();
      if (current != null && !current.ended) {
        able.add(current);
      }
      if (able.isEmpty() || preemptions < preemptionsMost) {
        for (Lane each : lanes) {
          if (!each.ended && each != current) {
            able.add(each);
          }
        }
      }
      if (able.isEmpty()) {
        break;
      }
      Lane next = able.get(choose(able.size()));
      if (current != null && !current.ended && next != current) {
        preemptions++;
      }
      current = next;
      current.go.release();
      back.acquireUninterruptibly();
    }
    for (Lane each : lanes) {
      if (each.failure != null) {
        throw each.failure;
      }
    }
    run.atEnd().run();
  }
}
