package dev.evenkeel.level;

/**
 * The algorithm of the TimeTunnel article as it is described, to compare with: each track counts
 * its steps of the round; one that has used up its range waits until all have arrived; arrivals are
 * counted, and the last one opens the next round for all by one flag. One lock for all of it.
 */
final class ArticleBarrier {
  private final int range;
  private int tracks;
  private int arrived;
  private boolean flag;

  ArticleBarrier(int range) {
    this.range = range;
  }

  synchronized Walker track() {
    tracks++;
    return new Walker(flag);
  }

  /** One track; for one thread. */
  final class Walker {
    private int steps;
    private boolean waiting;
    private boolean round;

    private Walker(boolean round) {
      this.round = round;
    }

    boolean move() {
      synchronized (ArticleBarrier.this) {
        if (waiting) {
          if (flag == round) {
            return false;
          }
          round = flag;
          waiting = false;
          steps = 0;
        }
        if (steps < range) {
          steps++;
          return true;
        }
        arrived++;
        if (arrived < tracks) {
          waiting = true;
          return false;
        }
        arrived = 0;
        flag = !flag;
        round = flag;
        steps = 1;
        return true;
      }
    }
  }
}
