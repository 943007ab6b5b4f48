package dev.evenkeel.testkit;

import dev.evenkeel.api.GroupView;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Waits for results and conditions, each up to a time limit. */
final class Waits {
  private static final long LOOK_MILLIS = 20;

  private Waits() {}

  /**
   * The result of a future.
   *
   * @throws RefusedException if it fails with one
   * @throws IllegalStateException if it fails with something else, or is not there in time
   */
  static <T> T get(Future<T> future, Duration patience) {
    try {
      return future
          .toCompletionStage()
          .toCompletableFuture()
          .get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RefusedException refused) {
        throw refused;
      }
      throw new IllegalStateException(e.getCause());
    } catch (TimeoutException e) {
      throw new IllegalStateException("no answer within " + patience.toSeconds() + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** Waits for a future, whatever comes of it. */
  static void quietly(Future<?> future, Duration patience) {
    get(future.transform(done -> Future.succeededFuture()), patience);
  }

  /**
   * Waits until nothing is missing.
   *
   * @param missing asks what is missing, in words; its answer is null if nothing is. While it is
   *     refused, the node may be starting or have no such group yet
   * @throws AssertionError if something is missing to the end
   */
  static void until(Supplier<Future<String>> missing, String what, Duration patience) {
    long deadline = System.nanoTime() + patience.toNanos();
    while (true) {
      String last;
      try {
        last = get(missing.get(), patience);
      } catch (RefusedException refused) {
        last = refused.getMessage();
      }
      if (last == null) {
        return;
      }
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError(what + " within " + patience.toMillis() + " ms: " + last);
      }
      try {
        TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError("interrupted: " + last, e);
      }
    }
  }

  /** What a group has not consumed, in words; null: nothing is left. */
  static Future<String> leftOf(Future<GroupView> group) {
    return group.map(
        of -> {
          List<String> left = new ArrayList<>();
          for (GroupView.Shard shard : of.shards()) {
            if (shard.committed() == null || shard.end() == null) {
              left.add(shard.name() + " has no known position");
            } else if (shard.committed() < shard.end()) {
              left.add(shard.name() + " is at " + shard.committed() + " of " + shard.end());
            }
          }
          GroupView.Failures failures = of.failures();
          long waiting = failures == null ? 0 : failures.retriesWaiting() + failures.parked();
          if (waiting > 0) {
            left.add(waiting + " messages wait for a retry, or behind one");
          }
          return left.isEmpty() ? null : String.join(", ", left);
        });
  }

  /** Why a group has not settled with so many members, in words; null: it has. */
  static Future<String> unsettled(Future<GroupView> group, int members) {
    return group.map(
        of ->
            of.members().size() == members && "OK".equals(of.status())
                ? null
                : of.members().size() + " members, status " + of.status());
  }
}
