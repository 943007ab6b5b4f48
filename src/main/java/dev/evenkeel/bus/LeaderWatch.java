package dev.evenkeel.bus;

import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Requests that wait for the leader of a log group. As soon as another one leads, they fail
 * INDETERMINATE: the former may be dead or held up, and then only the timeout would tell. It holds
 * as many requests as its users have under way; those have bounds of their own.
 *
 * <p>Safe for use from any thread.
 */
public final class LeaderWatch {
  private final Set<Waiting<?>> waiting = ConcurrentHashMap.newKeySet();

  private record Waiting<T>(int group, String node, Promise<T> promise) {}

  /**
   * The outcome of {@code request}, or INDETERMINATE if another node leads before.
   *
   * @param group number of the data group, or {@link ClusterView#META}
   * @param node who was asked
   */
  public <T> Future<T> whileLeads(int group, String node, Future<T> request) {
    if (request.isComplete()) {
      return request;
    }
    ContextInternal context = ContextInternal.current();
    Promise<T> promise = context == null ? Promise.promise() : context.promise();
    Waiting<T> entry = new Waiting<>(group, node, promise);
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

  /** Somebody leads the group now. */
  public void leads(int group, String leader) {
    for (Waiting<?> each : waiting) {
      if (each.group == group && !each.node.equals(leader) && waiting.remove(each)) {
        each.promise.tryFail(
            new RefusedException(
                Refusal.INDETERMINATE, "no answer from " + each.node + ", " + leader + " leads"));
      }
    }
  }
}
