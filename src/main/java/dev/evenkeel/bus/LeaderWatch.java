package dev.evenkeel.bus;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * Ends requests whose leader no longer answers. A request fails with INDETERMINATE as soon as
 * another node leads its log group, or when the asked node does not answer a later probe. Without
 * this, a request to a dead or paused node would wait for its timeout, 20 s for a fetch. It holds
 * all requests under way; its users limit how many there are.
 *
 * <p>Safe for use from any thread.
 */
public final class LeaderWatch {
  private final Set<WaitingRequest<?>> waiting = ConcurrentHashMap.newKeySet();

  private record WaitingRequest<T>(int group, String node, long sinceMillis, Promise<T> promise) {}

  /**
   * The outcome of {@code request}, or INDETERMINATE if it is ended before.
   *
   * @param group number of the data group, or {@link ClusterView#META}
   * @param node the node that was asked
   */
  public <T> Future<T> whileLeads(int group, String node, Future<T> request) {
    if (request.isComplete()) {
      return request;
    }
    ContextInternal context = ContextInternal.current();
    Promise<T> promise = context == null ? Promise.promise() : context.promise();
    WaitingRequest<T> entry = new WaitingRequest<>(group, node, MonotonicClock.millis(), promise);
    waiting.add(entry);
    request.onComplete(
        done -> {
          waiting.remove(entry);
          if (done.succeeded()) {
            promise.tryComplete(done.result());
          } else {
            promise.tryFail(done.cause());
          }
        });
    return promise.future();
  }

  /** Nodes that have owed an answer since before {@code millis}. */
  Set<String> awaited(long millis) {
    Set<String> nodes = new HashSet<>();
    for (WaitingRequest<?> each : waiting) {
      if (each.sinceMillis < millis) {
        nodes.add(each.node);
      }
    }
    return nodes;
  }

  /** A node did not answer a probe that was sent at {@code askedMillis}. */
  void silent(String node, long askedMillis) {
    end(each -> each.node.equals(node) && each.sinceMillis < askedMillis, "which does not answer");
  }

  /** A node leads the log group now. */
  public void leads(int group, String leader) {
    end(each -> each.group == group && !each.node.equals(leader), leader + " leads");
  }

  private void end(Predicate<WaitingRequest<?>> which, String reason) {
    for (WaitingRequest<?> each : waiting) {
      if (which.test(each) && waiting.remove(each)) {
        each.promise.tryFail(
            new RefusedException(
                Refusal.INDETERMINATE, "no answer from " + each.node + ", " + reason));
      }
    }
  }
}
