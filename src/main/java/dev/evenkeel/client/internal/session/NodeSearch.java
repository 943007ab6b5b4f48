package dev.evenkeel.client.internal.session;

import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.Told;
import dev.evenkeel.util.Backoff;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

/**
 * Tries addresses until it is ended. The first attempt begins at once, and the others follow each
 * as soon as one has failed, or after a moment, because a node that hangs neither answers nor
 * refuses. After a failure, the same address is tried again after a pause, which grows.
 *
 * <p>All of it happens on one context.
 */
final class NodeSearch {
  /** Pause between the first attempts at two addresses while the first has not failed. */
  private static final long NEXT_AFTER_MILLIS = 100;

  private static final long PAUSE_MILLIS_MIN = 50;
  private static final long PAUSE_MILLIS_MAX = 1_000;

  private final Vertx vertx;
  private final Executor context;
  private final Function<HostPort, Future<?>> attempt;
  private final Runnable onFailure;
  private final Queue<HostPort> untried;
  private final int addresses;

  /** Address → why its last attempt failed. */
  private final Map<HostPort, NoSession> failures = new LinkedHashMap<>();

  private boolean ended;

  /**
   * @param attempt fails with {@link NoSession} if no node answers at the address
   * @param onFailure runs after each attempt that has failed
   */
  NodeSearch(
      Vertx vertx,
      Executor context,
      List<HostPort> addresses,
      Function<HostPort, Future<?>> attempt,
      Runnable onFailure) {
    this.vertx = vertx;
    this.context = context;
    this.addresses = addresses.size();
    this.untried = new ArrayDeque<>(addresses);
    this.attempt = attempt;
    this.onFailure = onFailure;
  }

  /** Begins the attempt at the next address that was not tried yet. */
  void next() {
    HostPort address = ended ? null : untried.poll();
    if (address != null) {
      vertx.setTimer(NEXT_AFTER_MILLIS, timer -> next());
      attempt(address, 0);
    }
  }

  private void attempt(HostPort address, int failedBefore) {
    attempt
        .apply(address)
        .onFailure(failure -> context.execute(() -> failed(address, failedBefore, failure)));
  }

  private void failed(HostPort address, int failedBefore, Throwable failure) {
    if (ended) {
      return;
    }
    failures.put(address, (NoSession) failure);
    vertx.setTimer(
        pauseMillis(failedBefore, PAUSE_MILLIS_MIN, PAUSE_MILLIS_MAX),
        timer -> {
          if (!ended) {
            attempt(address, failedBefore + 1);
          }
        });
    next();
    onFailure.run();
  }

  /**
   * A pause after a number of failures. It doubles with each, and part of it is random, so that
   * many programs do not come back in the same moment.
   */
  static long pauseMillis(int failedBefore, long min, long max) {
    long pause = Backoff.doubling(failedBefore, min, max);
    return pause - ThreadLocalRandom.current().nextLong(pause / 2);
  }

  /** Makes no further attempts. Those under way go on. */
  void end() {
    ended = true;
  }

  /**
   * Whether at every address something answers that this program cannot talk to, or a node that
   * knows no user with these credentials: trying again makes no sense.
   */
  boolean hopeless() {
    return all(NoSession.Found.ANOTHER, NoSession.Found.TLS) || unauthenticated();
  }

  /** Whether TLS cannot begin at any address: what is wrong is said of each. */
  boolean needsOtherTls() {
    return all(NoSession.Found.TLS);
  }

  /** Whether the nodes at all addresses know no user with these credentials. */
  boolean unauthenticated() {
    return all(NoSession.Found.UNAUTHENTICATED);
  }

  private boolean all(NoSession.Found... found) {
    return failures.size() == addresses
        && failures.values().stream().allMatch(each -> List.of(found).contains(each.found()));
  }

  /** Why the last attempts have failed, and what to do about it; null if none has. */
  Told trouble() {
    Object[] all = failures.values().stream().map(NoSession::told).toArray();
    if (all.length == 0) {
      return null;
    }
    Told trouble = Told.text("%s" + "; %s".repeat(all.length - 1), all);
    boolean strange =
        failures.values().stream()
            .anyMatch(
                each ->
                    each.found() == NoSession.Found.STRANGE
                        || each.found() == NoSession.Found.ANOTHER);
    return strange ? Told.text("%s: %s", trouble, NoSession.RIGHT_PORT) : trouble;
  }
}
