package dev.evenkeel.gateway;

import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Link;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * Explains why nobody could serve a request: how many voters answer, how many are needed, and which
 * ones are missing. Every node is a voter of every log group.
 */
final class Majority {
  private static final long LOOK_NANOS = 1_000_000_000L;

  private final Link link;
  private final Supplier<Future<ClusterView>> views;

  /** Whether each node answers. */
  private Future<Map<String, Boolean>> looked;

  private long lookedNanos;

  Majority(Link link, Supplier<Future<ClusterView>> views) {
    this.link = link;
    this.views = views;
  }

  /**
   * Gives the refusal for the caller, which says what is wrong with the cluster if that is the
   * cause. Never fails.
   *
   * @param log name of the log group whose leader was asked; null: the one of a shard
   */
  Future<RefusedException> explain(RefusedException failure, String log) {
    Refusal refusal = failure.refusal();
    if (refusal != Refusal.NOT_LEADER
        && refusal != Refusal.UNAVAILABLE
        && refusal != Refusal.INDETERMINATE) {
      return Future.succeededFuture(failure);
    }
    return look()
        .map(there -> explain(failure, log, there))
        .otherwise(unknown -> new RefusedException(forCaller(refusal), failure.words()));
  }

  /** One look serves all failures within a second: a request may have a thousand messages. */
  private synchronized Future<Map<String, Boolean>> look() {
    long now = System.nanoTime();
    if (looked == null || now - lookedNanos > LOOK_NANOS) {
      lookedNanos = now;
      looked =
          views
              .get()
              .compose(
                  view ->
                      ClusterCalls.ofEachNode(
                          link,
                          Calls.READ_LOGS,
                          view.nodes(),
                          asked -> asked.map(true).otherwise(false)));
    }
    return looked;
  }

  private static RefusedException explain(
      RefusedException failure, String log, Map<String, Boolean> answering) {
    List<String> there = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    for (String node : new TreeSet<>(answering.keySet())) {
      (answering.get(node) ? there : missing).add(node);
    }
    int voters = there.size() + missing.size();
    int needed = voters / 2 + 1;
    String group = log == null ? "the log group of the shard" : "log group " + log;
    String text;
    if (there.size() < needed) {
      text =
          "%s has no majority: %s of %s %s (%s), and %s are needed. Start %s, or reconnect them"
              .formatted(
                  group,
                  there.size(),
                  voters,
                  there.size() == 1 ? "voters answers" : "voters answer",
                  String.join(", ", there),
                  needed,
                  String.join(", ", missing));
    } else if (failure.refusal() == Refusal.NOT_LEADER) {
      text =
          ("%s has no leader at the moment, although %s of %s voters answer: one is being elected,"
                  + " try again")
              .formatted(group, there.size(), voters);
    } else {
      return failure;
    }
    return new RefusedException(
        forCaller(failure.refusal()),
        failure.refusal() == Refusal.INDETERMINATE ? failure.words() + "; " + text : text);
  }

  /** Applications do not ask leaders, so NOT_LEADER means UNAVAILABLE for them. */
  private static Refusal forCaller(Refusal refusal) {
    return refusal == Refusal.NOT_LEADER ? Refusal.UNAVAILABLE : refusal;
  }
}
