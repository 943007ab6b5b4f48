package dev.evenkeel.broker.serve;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.LogLimiter;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notes which other nodes do not answer this one over the event bus, and logs it. A node that is
 * not there at all is no such node: the member list says so.
 *
 * <p>For one thread. Times are monotonic.
 */
final class PeerLinks {
  /** A link is logged when it has not answered for longer than this. */
  static final long SILENCE_MILLIS_MAX = 5_000;

  private static final Logger LOG = LoggerFactory.getLogger(PeerLinks.class);

  private final String node;
  private final LogLimiter limiter = new LogLimiter();
  private final Set<String> asked = new HashSet<>();

  /** When the first question was asked that was not answered, and none after it. */
  private final Map<String, Long> since = new TreeMap<>();

  private final Set<String> logged = new HashSet<>();

  /**
   * @param node this one
   */
  PeerLinks(String node) {
    this.node = node;
  }

  /** The nodes that are to be asked now, each at most once at a time. */
  Set<String> ask(Collection<String> others) {
    since.keySet().retainAll(others);
    logged.retainAll(others);
    Set<String> due = new HashSet<>(others);
    due.removeAll(asked);
    asked.addAll(due);
    return due;
  }

  /**
   * A question has come to its end.
   *
   * @param failure null: it was answered
   */
  void ended(String other, Throwable failure, long askedMillis, long nowMillis) {
    asked.remove(other);
    boolean silent =
        failure != null && RefusedException.of(failure).refusal() == Refusal.INDETERMINATE;
    if (!silent) {
      Long began = since.remove(other);
      if (logged.remove(other)) {
        LOG.info(
            "node {} {} again, after {} ms",
            node,
            failure == null ? "gets answers from node " + other : "does not see node " + other,
            nowMillis - began);
      }
      return;
    }
    long began = since.computeIfAbsent(other, first -> askedMillis);
    if (nowMillis - began >= SILENCE_MILLIS_MAX && limiter.mayLog(other, nowMillis)) {
      logged.add(other);
      LOG.warn(
          "node {} has had no answer from node {} over the event bus for {} ms: that node is"
              + " paused, overloaded or cut off from this one",
          node,
          other,
          nowMillis - began);
    }
  }

  /** For how long each node has not answered, in milliseconds; others are not named. */
  Map<String, Long> unanswered(long nowMillis) {
    Map<String, Long> all = new TreeMap<>();
    since.forEach((other, began) -> all.put(other, nowMillis - began));
    return all;
  }
}
