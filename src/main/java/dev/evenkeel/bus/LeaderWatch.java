package dev.evenkeel.bus;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Requests that wait for the leader of a log group. As soon as another one leads, they fail
 * INDETERMINATE: the former may be dead or held up, and then only the timeout would tell. So they
 * do when the leader leaves a question without an answer that was asked after them: what it says
 * may not find us any more, and a fetch would wait for it for 20 s. It holds as many requests as
 * its users have under way; those have bounds of their own.
 *
 * <p>Safe for use from any thread.
 */
public final class LeaderWatch {
  private final Set<Waiting<?>> waiting = ConcurrentHashMap.newKeySet();

  private record Waiting<T>(int group, String node, long sinceMillis, Promise<T> promise) {}

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
    Waiting<T> entry = new Waiting<>(group, node, nowMillis(), promise);
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

  /** The clock of all its times. */
  static long nowMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  /** Nodes of which something was asked before {@code millis}, and is awaited still. */
  Set<String> awaited(long millis) {
    Set<String> nodes = new HashSet<>();
    for (Waiting<?> each : waiting) {
      if (each.sinceMillis < millis) {
        nodes.add(each.node);
      }
    }
    return nodes;
  }

  /** A node has not answered what it was asked at {@code askedMillis}. */
  void silent(String node, long askedMillis) {
    for (Waiting<?> each : waiting) {
      if (each.node.equals(node) && each.sinceMillis < askedMillis && waiting.remove(each)) {
        each.promise.tryFail(
            new RefusedException(
                Refusal.INDETERMINATE, "no answer from " + node + ", which answers nothing now"));
      }
    }
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
