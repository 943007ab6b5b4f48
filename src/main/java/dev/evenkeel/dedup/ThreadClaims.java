package dev.evenkeel.dedup;

import dev.evenkeel.protocol.RefusedException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Lets threads wait for the turns of their claims, and remembers which ones they have taken, for
 * programs that name only the key when they give it back. Of two claims of one key, as after an
 * eviction, a thread gives back its own. Safe for use from several threads.
 *
 * @param <C> type of claims
 */
public final class ThreadClaims<C extends ThreadClaims.Claim> {
  private static final long WAIT_MILLIS = 1_000;

  /** A claim of a key. */
  public interface Claim {
    /** Completes with ACCEPT when it works, and with DECLINE; may fail with RefusedException. */
    CompletableFuture<Answer> turn();

    /** Whether the program may rely on it. */
    boolean isHeld();

    /** Ends it. What is returned says more to others. */
    Object giveBack();
  }

  private record Taken<C>(Thread thread, C claim) {}

  /** Key → claims, the oldest first. */
  private final Map<String, ArrayDeque<Taken<C>>> byKey = new HashMap<>();

  /**
   * Asks for a key and waits until the claim works.
   *
   * @param begin asks for a key
   * @param whileWaiting runs about once a second until its turn has come
   * @return false if it was declined
   * @throws IllegalStateException if this thread works on the key already
   */
  public boolean enQueue(String key, Function<String, C> begin, Runnable whileWaiting)
      throws InterruptedException {
    C own = ofThread(key);
    if (own != null && own.isHeld()) {
      throw new IllegalStateException(
          "this thread works on the key already, and would wait for itself: call deQueue first");
    }
    C claim = begin.apply(key);
    try {
      if (await(claim, whileWaiting) == Answer.DECLINE) {
        return false;
      }
    } catch (InterruptedException | RuntimeException e) {
      claim.giveBack();
      throw e;
    }
    add(key, claim);
    return true;
  }

  private static Answer await(Claim claim, Runnable whileWaiting) throws InterruptedException {
    while (true) {
      try {
        return claim.turn().get(WAIT_MILLIS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        whileWaiting.run();
      } catch (ExecutionException e) {
        Throwable cause = e.getCause();
        throw RefusedException.of(cause == null ? e : cause);
      }
    }
  }

  /**
   * Gives back the calling thread's claim, or else the oldest one.
   *
   * @return whether it was still held; false also if there is none
   */
  public boolean deQueue(String key) {
    C claim = remove(key);
    if (claim == null) {
      return false;
    }
    boolean held = claim.isHeld();
    claim.giveBack();
    return held;
  }

  private synchronized void add(String key, C claim) {
    byKey
        .computeIfAbsent(key, none -> new ArrayDeque<>(1))
        .add(new Taken<>(Thread.currentThread(), claim));
  }

  /** The claim that the calling thread has taken last; null if there is none. */
  private synchronized @Nullable C ofThread(String key) {
    C found = null;
    for (Taken<C> taken : byKey.getOrDefault(key, new ArrayDeque<>(1))) {
      if (taken.thread == Thread.currentThread()) {
        found = taken.claim;
      }
    }
    return found;
  }

  private synchronized @Nullable C remove(String key) {
    ArrayDeque<Taken<C>> all = byKey.get(key);
    if (all == null) {
      return null;
    }
    C removed = null;
    for (Iterator<Taken<C>> each = all.iterator(); removed == null && each.hasNext(); ) {
      Taken<C> taken = each.next();
      if (taken.thread == Thread.currentThread()) {
        each.remove();
        removed = taken.claim;
      }
    }
    if (removed == null) {
      removed = all.remove().claim;
    }
    if (all.isEmpty()) {
      byKey.remove(key);
    }
    return removed;
  }
}
