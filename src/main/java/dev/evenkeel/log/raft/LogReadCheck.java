package dev.evenkeel.log.raft;

import dev.evenkeel.log.Follower;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Finds out whether a follower stays behind because the leader cannot read its own log: the engine
 * only tries again, and tells nobody. Of each follower that gets no further for a while, the entry
 * that it needs next is read once.
 */
final class LogReadCheck {
  private static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(3);

  /** So often in a row an entry must have failed: its segment may just have been purged. */
  private static final int FAILURES = 3;

  private static final class Stand {
    final long matchIndex;
    final long sinceNanos;
    boolean read;
    int failures;

    Stand(long matchIndex, long sinceNanos) {
      this.matchIndex = matchIndex;
      this.sinceNanos = sinceNanos;
    }
  }

  private final Map<String, Stand> stands = new HashMap<>();

  /** Reads an entry of the log. */
  interface Reader {
    /** Null if there is no such entry, for one that is purged say. */
    Object read(long index) throws Exception;
  }

  /**
   * @param followers of this node; none: it does not lead
   * @param lastIndex up to which followers should be
   * @return what is wrong, or null
   */
  String check(long nowNanos, List<Follower> followers, long lastIndex, Reader reader) {
    if (followers.isEmpty()) {
      stands.clear();
    }
    for (Follower follower : followers) {
      Stand stand = stands.get(follower.node());
      if (stand == null || stand.matchIndex != follower.matchIndex()) {
        stand = new Stand(follower.matchIndex(), nowNanos);
        stands.put(follower.node(), stand);
      }
      boolean stuck =
          stand.matchIndex < lastIndex && nowNanos - stand.sinceNanos >= STUCK_NANOS && !stand.read;
      String failure = stuck ? failure(stand, reader) : null;
      if (failure != null) {
        return failure;
      }
    }
    return null;
  }

  private static String failure(Stand stand, Reader reader) {
    long index = stand.matchIndex + 1;
    try {
      reader.read(index);
      stand.read = true;
      return null;
    } catch (Exception e) {
      String reason = Refusals.reason(e);
      stand.failures++;
      // That passes, and says nothing of the file.
      boolean transientFailure = reason.contains("Too many open files");
      return stand.failures < FAILURES || transientFailure
          ? null
          : "entry " + index + " of the log cannot be read: " + reason;
    }
  }
}
