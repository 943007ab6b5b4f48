package dev.evenkeel.broker.serve;

import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.log.Leadership;
import dev.evenkeel.log.LogGroup;
import java.util.concurrent.atomic.LongAdder;

/** Counts how often a log group got another leader, or the same one anew. */
final class LeaderWatch {
  private final LogGroup log;
  private final LongAdder changes;
  private long lastTerm = -1;
  private boolean closed;

  LeaderWatch(LogGroup log, MeterScope scope) {
    this.log = log;
    changes =
        scope.counter(
            "evenkeel.log.leader.changes",
            "Times that the log group got a new leader, as seen by this node",
            "log",
            log.name());
    look();
    log.onLeadership(any -> look());
  }

  private synchronized void look() {
    Leadership now = log.leadership();
    if (closed || now.leader() == null || now.term() == lastTerm) {
      return;
    }
    if (lastTerm >= 0) {
      changes.increment();
    }
    lastTerm = now.term();
  }

  /** The log goes on telling of leaders after its broker ended. */
  synchronized void close() {
    closed = true;
  }
}
