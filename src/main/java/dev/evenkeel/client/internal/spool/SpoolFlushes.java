package dev.evenkeel.client.internal.spool;

import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Those who wait until all up to a frame is acknowledged. Guarded by its producer. */
final class SpoolFlushes {
  private record Flush(long frame, Promise<Void> promise) {}

  private final List<Flush> waiting = new ArrayList<>();

  void add(long frame, Promise<Void> promise) {
    waiting.add(new Flush(frame, promise));
  }

  /** Takes out those that need not wait any more; to be told outside of the lock. */
  List<Promise<Void>> upTo(long ackedFrame) {
    List<Promise<Void>> done = new ArrayList<>();
    for (Iterator<Flush> each = waiting.iterator(); each.hasNext(); ) {
      Flush flush = each.next();
      if (flush.frame() <= ackedFrame) {
        done.add(flush.promise());
        each.remove();
      }
    }
    return done;
  }
}
