package dev.evenkeel.sim;

import dev.evenkeel.broker.serve.DueBench;

/** The leader's timer of a data group, by the production schedule; each leader has its own clock. */
final class SimDueTimer {
  private final Timeline time;
  private final DataGroup group;
  private final Bug bug;
  private long clockOffset;
  private long lastMillis;
  private long looks;
  private boolean first = true;

  /**
   * @param clockOffset of the first leader's clock
   */
  SimDueTimer(Timeline time, DataGroup group, Bug bug, long clockOffset) {
    this.time = time;
    this.group = group;
    this.bug = bug;
    this.clockOffset = clockOffset;
  }

  /** The leader's clock. */
  long clock() {
    return time.now() + clockOffset;
  }

  /** Something may be due earlier. */
  void tell() {
    if (first || bug.newLeaderLooks()) {
      lookIn(0);
    }
  }

  /** Another leads from {@code millis} from now on. */
  void leaderChanges(long millis, long itsClockOffset) {
    looks++;
    time.in(
        millis,
        null,
        null,
        () -> {
          first = false;
          clockOffset = itsClockOffset;
          tell();
        });
  }

  private void lookIn(long millis) {
    long look = ++looks;
    time.in(
        millis,
        null,
        null,
        () -> {
          if (look == looks && group.led()) {
            look();
          }
        });
  }

  private void look() {
    long wait = DueBench.waitMillis(clock(), group.nextDueMillis(), time.now() - lastMillis);
    if (wait == 0) {
      lastMillis = time.now();
      group.deliver(clock());
      lookIn(1);
    } else if (wait != DueBench.NOTHING) {
      lookIn(wait);
    }
  }
}
